public import Pipeline

/// Tells a closure of every answer with status 401 that the target does not want, for example to show a login.
///
/// ```swift
/// UnauthorizedPlugin { response, context in
///     await session.end(because: response.headers[.wwwAuthenticate])
/// }
/// ```
///
/// **Position**: outside every plugin that answers a 401 by sending again, so that the closure is told once per call, and only when
/// that did not help; inside one it is told of each 401. `explain()` finds it inside a ``CredentialsPlugin`` and
/// a ``TokenRefreshPlugin``.
///
/// **Effects**: the closure runs before the caller gets the answer, which waits for it. It is told of a response, and of the
/// response of a failure, whether the target accepts any status, or not this one, so that the call ends in an error. It is not told
/// of a 401 that the target names among those it wants, nor of one from another origin than the endpoint's, where a redirect or a
/// plugin has led: the user of this API has not been refused. It gets a
/// copy, whose body is left out while it is a stream that can be read once; nothing that it does changes the result. Every other
/// result passes untouched, and nothing is kept.
///
/// **Defaults**: none; there is nothing to set.
///
/// **Errors**: throws none, and passes every failure on.
///
/// **Secrets**: the closure gets the request with its header fields; nothing is written.
///
/// Source: RFC 9110 §15.5.2, https://www.rfc-editor.org/rfc/rfc9110.html#section-15.5.2
public struct UnauthorizedPlugin: Stage.Process {
    private let handler: @Sendable (PipelineResponse, PipelineContext) async -> Void

    /// Makes a plugin.
    ///
    /// - Parameter handler: is told of each 401 that is not wanted; it may wait, and the call waits for it.
    public init(handler: @escaping @Sendable (PipelineResponse, PipelineContext) async -> Void) {
        self.handler = handler
    }

    /// Tells of a 401.
    public func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async {
        guard var response = Self.response(of: result), response.statusCode == 401,
            !Self.wants401(context.target.validationType), CredentialScope.isOwnOrigin(response.request, context)
        else { return }
        if !response.body.isReplayable { response.body = .none }
        await handler(response, context)
    }

    private static func wants401(_ accepted: ValidationType) -> Bool {
        accepted != .none && accepted.accepts(401)
    }

    private static func response(of result: Result<PipelineResponse, PipelineError>) -> PipelineResponse? {
        switch result {
        case .success(let response): response
        case .failure(let error): error.response
        }
    }
}

extension UnauthorizedPlugin: OrderChecking {
    /// Finds a plugin outside that answers a 401 of which the closure has been told.
    public func findings(in surroundings: PluginSurroundings) -> [PipelineDescription.Finding] {
        surroundings.outside.filter { $0 is CredentialsPlugin || $0 is any TokenRefreshing }.map { plugin in
            .init(
                "UnauthorizedPlugin stands inside \(plugin.name): it is told of every 401, also of those that are answered with "
                    + "credentials; move it outside"
            )
        }
    }
}
