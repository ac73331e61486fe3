public import PipelineCore

extension PipelineError.Code {
    /// The access token could not be refreshed; the underlying error gives the reason.
    public static let tokenRefresh = Self(rawValue: "tokenRefresh")
    /// The limit on refreshes of the access token within the policy's time window was reached.
    public static let excessiveRefresh = Self(rawValue: "excessiveRefresh")
}

extension PipelineError.Code.TimeoutPhase {
    /// The refresh of an access token.
    public static let tokenRefresh = Self(rawValue: "tokenRefresh")
}

/// The reason why a call gets no credential.
enum TokenRefreshFailure: Error {
    case thrown(any Error)
    case timedOut
    case excessive
    /// The call's session has ended, or none has begun. Calls that fail before the next login share an outcome; later
    /// calls have none.
    case sessionEnded(Stage.SharedOutcome?, String)
    /// The call's deadline has passed.
    case deadline
    case cancelled

    /// Returns the error for one call.
    ///
    /// - Parameters:
    ///   - policy: the limits that applied.
    ///   - response: the response that refused the call's token, if the call was sent.
    /// - Returns: an error that quotes neither the token nor the response.
    func error(_ policy: TokenRefreshPolicy, response: PipelineResponse?) -> any Error {
        let code: PipelineError.Code
        let reason: String
        var underlyingError: (any Error)?
        switch self {
        case .thrown(let error):
            (code, reason) = (.tokenRefresh, "the access token could not be refreshed")
            underlyingError = error
        case .timedOut:
            code = .timeout(.tokenRefresh)
            reason = "the refresh of the access token took longer than \(PipelineError.text(of: policy.timeout))"
        case .excessive:
            let window = PipelineError.text(of: policy.window)
            code = .excessiveRefresh
            reason =
                "the access token was refreshed \(policy.maximumCount) times within \(window), which is the limit"
        case .sessionEnded(_, let what):
            (code, reason) = (.sessionEnded, "\(what); log in, then retry the call")
        case .deadline:
            (code, reason) = (.timeout(.total), "the call's deadline passed before it had a new access token")
        case .cancelled: return CancellationError()
        }
        return PipelineError(code, reason, response: response, underlyingError: underlyingError)
    }
}
