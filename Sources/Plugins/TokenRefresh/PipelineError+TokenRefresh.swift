public import Pipeline

extension PipelineError.Code {
    /// A new access token could not be had; the underlying error says why.
    public static let tokenRefresh = Self(rawValue: "tokenRefresh")
    /// The access token was refreshed as often as is allowed in so short a time.
    public static let excessiveRefresh = Self(rawValue: "excessiveRefresh")
}

extension PipelineError.Code.TimeoutPhase {
    /// The refresh of an access token.
    public static let tokenRefresh = Self(rawValue: "tokenRefresh")
}

/// Why there is no new credential, for each call that has waited for it.
enum TokenRefreshFailure: Sendable {
    case thrown(any Error)
    case timedOut
    case excessive

    /// The error of a call.
    ///
    /// - Parameters:
    ///   - policy: the limits that held.
    ///   - response: the answer that refused the call's token, if it was sent.
    /// - Returns: an error that quotes neither token nor answer.
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
                "the refresh of the access token took longer than \(policy.timeout)",
                response: response
            )
        case .excessive:
            PipelineError(
                .excessiveRefresh,
                "\(policy.maximumCount) refreshes of the access token within \(policy.window) are as many as are allowed",
                response: response
            )
        }
    }
}
