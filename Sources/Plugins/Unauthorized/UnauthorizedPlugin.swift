public import Pipeline

/// Calls a handler when the target's server refuses a call with an unexpected 401, for example to show a login.
///
/// ```swift
/// UnauthorizedPlugin { response, context in
///     await session.end(because: response?.headers[.wwwAuthenticate])
/// }
/// ```
///
/// **Position**: outside every plugin that retries after a 401, so that the handler runs once per call, and only if the retry did
/// not help; inside one it runs for each 401. `explain()` finds it inside a ``TokenRefreshPlugin``.
///
/// **Effects**: the handler runs before the caller gets the result, which waits for it. It runs for a response and for the response
/// of a failure, whether the target accepts any status or fails for this one. It does not run for a 401 that the target names
/// among the statuses it accepts, nor for one from another origin than the endpoint's, where a redirect or a plugin has led: the
/// user of this API was not refused. While ``TokenRefreshPlugin`` has no credential, before the first log-in or after the end of a
/// session, the handler runs once for all calls that fail with `sessionEnded`, with the response of a call that had been refused or
/// with `nil` for one that was never sent; it does not run for calls of that session that fail when a user is logged in again. The handler gets a copy of the response without
/// its body if that is a stream; nothing that it does changes the result. Every other result passes untouched, and nothing is
/// kept.
///
/// **Defaults**: none.
///
/// **Errors**: throws none, and passes every failure on.
///
/// **Secrets**: the handler gets the request with its header fields; nothing is written.
///
/// Source: RFC 9110 §15.5.2, https://www.rfc-editor.org/rfc/rfc9110.html#section-15.5.2
public struct UnauthorizedPlugin: Stage.Process {
    private let handler: @Sendable (PipelineResponse?, PipelineContext) async -> Void

    /// Makes a plugin.
    ///
    /// - Parameter handler: gets each unexpected 401, or `nil` if there was no session for a call that was not sent; the call waits
    ///   for it.
    public init(handler: @escaping @Sendable (PipelineResponse?, PipelineContext) async -> Void) {
        self.handler = handler
    }

    /// Calls the handler for a 401 and for the lack of a session.
    public func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async {
        if case .failure(let error) = result, error.code == .sessionEnded {
            guard let report = context[SessionEndReport.Key.self], report.claim() else { return }
            return await handler(error.response.map { Self.copy(of: $0) }, context)
        }
        guard let response = Self.response(of: result), response.statusCode == 401,
            !Self.wants401(context.target.validationType), context.endpoint.hasOrigin(of: response.request)
        else { return }
        await handler(Self.copy(of: response), context)
    }

    /// The response without a body that can be read only once.
    private static func copy(of response: PipelineResponse) -> PipelineResponse {
        var response = response
        if !response.body.isReplayable { response.body = .absent }
        return response
    }

    private static func wants401(_ accepted: ValidationType) -> Bool {
        accepted != .anyStatus && accepted.accepts(401)
    }

    private static func response(of result: Result<PipelineResponse, PipelineError>) -> PipelineResponse? {
        switch result {
        case .success(let response): response
        case .failure(let error): error.response
        }
    }
}

extension UnauthorizedPlugin: CapabilityDeclaring {
    /// `PluginCapability.reportsUnauthorized`.
    public var capabilities: Set<PluginCapability> { [.reportsUnauthorized] }
}
