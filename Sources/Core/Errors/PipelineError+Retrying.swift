extension PipelineError {
    /// Whether the way to the server is at fault, so that an app may say "check your connection".
    ///
    /// This is `true` for `offline`, `dns`, `connect`, `proxy`, `connectionLost`, `truncated`, and a `timeout` that is
    /// not a refusal.
    public var isNetworkProblem: Bool {
        switch code {
        case .offline, .dns, .connect, .proxy, .connectionLost, .truncated: true
        case .timeout: !isRefusal
        default: false
        }
    }

    /// Whether the same call may succeed later without a change, so that an app may offer to try again.
    ///
    /// This is `true` for a network problem, for a call that was refused to protect the server (`circuitOpen` and the
    /// limits of traffic), and for the statuses 408, 425, 429, 500, 502, 503 and 504. It does not say whether the
    /// server has acted on the request.
    public var isTransient: Bool {
        if let statusCode, code == .unacceptableStatus {
            return [408, 425, 429, 500, 502, 503, 504].contains(statusCode)
        }
        return isNetworkProblem || isRefusal
    }
}
