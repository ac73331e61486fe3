public import PipelineCore

/// A plugin that calls a handler when a call ends with an unexpected 401, for example to show a login.
///
/// ```swift
/// UnauthorizedPlugin { response, _ in
///     await session.end(because: response?.headers[.wwwAuthenticate])
/// }
/// ```
///
/// **Effects**
///
/// - Calls the handler before the caller gets the result; the result waits for the handler.
/// - Calls it for a response with status 401 and for a failure that has one, whether the target accepts any status or
///   fails for this one.
/// - Does not call it if the target lists 401 among the statuses that it accepts.
/// - Does not call it for a 401 from another origin than the endpoint's, after a redirect or a change by a plugin. Such
///   a 401 does not concern the user of this API.
/// - While `TokenRefreshPlugin` has no credential, before the first login or after the end of a session, calls the
///   handler once for all calls that fail with `sessionEnded` and share that outcome
///   (`PipelineContext.sharedOutcome`). The handler gets the response of a refused call, or
///   `nil` for a call that was never sent. It does not run for calls of that session that fail after a new login.
/// - Passes a copy of the response, without its body if that is a stream. The handler cannot change the result.
/// - Passes all other results on unchanged and keeps nothing.
///
/// **Position**
///
/// - Outside every plugin that retries after a 401, so that the handler runs once per call and only if the retry did
///   not help. Inside such a plugin, it runs for each 401.
/// - `explain()` reports an `UnauthorizedPlugin` inside a `TokenRefreshPlugin`.
///
/// **Errors**: throws none. Failures pass through unchanged.
///
/// **Secrets**: the handler gets the request with its header fields. The plugin writes nothing.
///
/// Source: RFC 9110 §15.5.2, https://www.rfc-editor.org/rfc/rfc9110.html#section-15.5.2
public struct UnauthorizedPlugin: Stage.Process {
    /// Identifies the plugin to what calls share.
    private final class Identity: Sendable {}

    private let identity = Identity()
    private let handler: @Sendable (PipelineResponse?, PipelineContext) async -> Void

    /// Makes a plugin.
    ///
    /// - Parameter handler: receives each unexpected 401, or `nil` for a call that was not sent because there was no
    ///   session; the call waits for the handler.
    public init(handler: @escaping @Sendable (PipelineResponse?, PipelineContext) async -> Void) {
        self.handler = handler
    }

    /// Calls the handler for an unexpected 401 and for a call without a session.
    public func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async {
        if let error = result.error, error.code == .sessionEnded {
            var isFirst = false
            _ = context.sharedOutcome?.decision(of: identity) {
                isFirst = true
                return true
            }
            guard isFirst else { return }
            return await handler(error.response.map { Self.copy(of: $0) }, context)
        }
        guard let response = result.response, response.statusCode == 401,
            !Self.wants401(context.validationType), context.endpoint.hasOrigin(of: response.request)
        else { return }
        await handler(Self.copy(of: response), context)
    }

    /// Returns the response, without its body if that can be read only once.
    private static func copy(of response: PipelineResponse) -> PipelineResponse {
        var response = response
        if !response.body.isReplayable { response.body = .absent }
        return response
    }

    private static func wants401(_ accepted: ValidationType) -> Bool {
        accepted != .anyStatus && accepted.accepts(401)
    }
}

extension UnauthorizedPlugin: CapabilityDeclaring {
    /// The plugin declares `PluginCapability.reportsUnauthorized`.
    public var capabilities: Set<PluginCapability> { [.reportsUnauthorized] }
}
