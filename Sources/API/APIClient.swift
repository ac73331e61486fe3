public import Pipeline

/// What sends ``APIRequest``s: a provider, with what its requests do not say themselves.
///
/// ```swift
/// var api = APIClient(provider, environments: environments)
/// api.errorTexts.set("You are not logged in", for: .unauthorized)
/// let posts = try await api.send(PostController.list())
/// ```
///
/// It is a value: change a copy, and pass it to whoever needs it. Header fields for all requests come from a `HeadersPlugin` of the
/// provider, and a handler for every 401 is an `UnauthorizedPlugin`.
///
/// **Effects**: the server is that of the request, else ``server``, else that of ``environments`` as the call begins. It is a part of the
/// target that plugins see, so that credentials go to its origin and to no other.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `server`, `environments` | none |
/// | `coders` | `PipelineCoders` |
/// | `options` | none; those of the request win, key by key |
/// | `errorTexts` | none; those of the request win, text by text |
///
/// **Errors**: those of ``APIRequest`` and of the provider; `invalidRequest.url` when neither the request nor the client has a server, or its
/// base is no URL.
public struct APIClient: Sendable {
    /// What requests are sent through.
    public let provider: Provider<MultiTarget>
    /// The server of requests that name none.
    public var server: ServerURL?
    /// The servers of requests that name none, when there is no ``server``.
    public var environments: Environments?
    /// How values are written and read.
    public var coders = PipelineCoders()
    /// Settings of all requests.
    public var options = RequestOptions()

    /// Texts for failures of all requests, a part of ``options``.
    public var errorTexts: ErrorTexts {
        get { options.errorTexts }
        set { options.errorTexts = newValue }
    }

    /// Makes a client.
    ///
    /// - Parameters:
    ///   - provider: what requests are sent through.
    ///   - server: the server of requests that name none.
    ///   - environments: the servers of requests that name none, when there is no `server`.
    public init(_ provider: Provider<MultiTarget>, server: ServerURL? = nil, environments: Environments? = nil) {
        self.provider = provider
        self.server = server
        self.environments = environments
    }

    /// The request with all that the client adds to it.
    ///
    /// For the provider's own methods:
    ///
    /// ```swift
    /// let lines = try await api.provider.stream(api.resolved(Feed.lines())).lines()
    /// ```
    ///
    /// - Throws: `PipelineError` with code `invalidRequest` when there is no server, or its
    ///   base is no URL.
    public func resolved<Output>(_ request: APIRequest<Output>) throws(PipelineError) -> APIRequest<Output> {
        let request = completed(request)
        if let failure = request.urlFailure { throw failure }
        return request
    }

    private func completed<Output>(_ request: APIRequest<Output>) -> APIRequest<Output> {
        request.with { parts in
            parts.server = parts.server ?? server ?? environments?.server
            parts.coders = coders
            let texts = errorTexts.overridden(by: parts.options.errorTexts)
            let (own, general) = (parts.options.errorText, options.errorText)
            parts.options = options.overridden(by: parts.options)
            guard let own, let general else { return }
            parts.options.errorTexts = texts
            // Either may come from a layer with texts of its own.
            parts.options.errorText = { own($0) ?? general($0) }
        }
    }

    /// The request as it was sent, and the call, which the caller ends.
    func answer<Output>(
        to request: APIRequest<Output>,
        meter: ProgressMeter? = nil,
        onStart: (@Sendable () -> Void)? = nil
    ) async -> (APIRequest<Output>, PerformedCall) {
        let request = completed(request)
        return (
            request,
            await provider.perform(
                MultiTarget(request),
                RequestOptions(),
                isStreaming: false,
                meter: meter,
                onStart: onStart
            )
        )
    }

    /// A copy that stays with the environment of this moment.
    var pinned: APIClient {
        var copy = self
        copy.server = server ?? environments?.server
        return copy
    }
}
