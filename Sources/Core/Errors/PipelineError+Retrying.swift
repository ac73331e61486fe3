extension PipelineError {
    /// Whether the way to the server is at fault, so that an app may say "check your connection".
    ///
    /// This is `true` for `offline`, `dns`, `connect`, `proxy`, `connectionLost`, `truncated`, and a `timeout` that is
    /// not a refusal, and for an error whose cause is one of these, such as `tokenRefresh` without a network.
    public var isNetworkProblem: Bool {
        switch code {
        case .offline, .dns, .connect, .proxy, .connectionLost, .truncated: true
        case .timeout: !isRefusal
        default: cause?.isNetworkProblem ?? false
        }
    }

    /// The underlying error, if it is one of this type.
    var cause: PipelineError? { underlyingError as? PipelineError }

    /// Whether the same call may succeed later without a change, so that an app may offer to try again.
    ///
    /// This is `true` for a network problem, for a call that was refused to protect the server (`circuitOpen` and the
    /// limits of traffic), for the statuses 408, 425, 429, 500, 502, 503 and 504, and for an error with such a cause.
    /// It does not say whether the server has acted on the request.
    public var isTransient: Bool {
        if let statusCode, code == .unacceptableStatus {
            return [408, 425, 429, 500, 502, 503, 504].contains(statusCode)
        }
        return isNetworkProblem || isRefusal || cause?.isTransient == true
    }
}
