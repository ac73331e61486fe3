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
enum TokenRefreshFailure: Sendable {
    case thrown(any Error)
    case timedOut
    case excessive
    /// The call's session has ended, or none has begun. Calls that fail before the next login share a report; later
    /// calls have none.
    case sessionEnded(SessionEndReport?)
    /// The call's deadline has passed.
    case deadline

    /// Returns the error for one call.
    ///
    /// - Parameters:
    ///   - policy: the limits that applied.
    ///   - response: the response that refused the call's token, if the call was sent.
    /// - Returns: an error that quotes neither the token nor the response.
    func error(_ policy: TokenRefreshPolicy, response: PipelineResponse?) -> PipelineError {
        switch self {
        case .thrown(let error):
            PipelineError(
                .tokenRefresh,
                "the access token could not be refreshed",
                response: response,
                underlyingError: error
            )
        case .timedOut:
            PipelineError(
                .timeout(.tokenRefresh),
                "the refresh of the access token took longer than \(PipelineError.text(of: policy.timeout))",
                response: response
            )
        case .excessive:
            PipelineError(
                .excessiveRefresh,
                "the access token was refreshed \(policy.maximumCount) times within \(PipelineError.text(of: policy.window)), which is the limit",
                response: response
            )
        case .sessionEnded:
            PipelineError(
                .sessionEnded,
                "the session of the call has ended, or none has begun; log in, then retry the call",
                response: response
            )
        case .deadline:
            PipelineError(
                .timeout(.total),
                "the call's deadline passed before it had a new access token",
                response: response
            )
        }
    }
}
