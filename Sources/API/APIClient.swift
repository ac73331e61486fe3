public import Pipeline

/// A client that sends ``APIRequest``s through a provider, with the settings that they share.
///
/// ```swift
/// var api = APIClient(provider, environments: environments)
/// api.options.errorTexts.set("You are not logged in", for: .unauthorized)
/// let posts = try await api.send(PostController.list())
/// ```
///
/// It is a value: change a copy, and pass it where it is needed. Use a `HeadersPlugin` of the provider for header fields of all
/// requests, and an `UnauthorizedPlugin` for a handler of every 401.
///
/// **Effects**: the server is that of the request, else ``server``, else that of ``environments`` when the call begins. It
/// belongs to the target that plugins see, so credentials are sent only to its origin.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `server`, `environments` | none |
/// | `coders` | `PipelineCoders` |
/// | `options` | none; those of the request win, key by key, and of their `errorTexts` text by text |
///
/// **Errors**: those of ``APIRequest`` and of the provider; `invalidRequest.url` when neither the request nor the client has a
/// server, or its base is not a URL.
public struct APIClient: Sendable {
    /// The provider that sends the requests.
    public let provider: Provider<MultiTarget>
    /// The server of requests without a server of their own.
    public var server: ServerURL?
    /// The servers of requests without a server of their own, if ``server`` is `nil`.
    public var environments: APIEnvironments?
    /// The encoders and decoders of values.
    public var coders = PipelineCoders()
    /// The options of all requests.
    public var options = RequestOptions()

    /// Creates a client.
    ///
    /// - Parameters:
    ///   - provider: the provider that sends the requests.
    ///   - server: the server of requests without a server of their own; defaults to `nil`.
    ///   - environments: the servers of requests without a server of their own, if `server` is `nil`; defaults to `nil`.
    public init(_ provider: Provider<MultiTarget>, server: ServerURL? = nil, environments: APIEnvironments? = nil) {
        self.provider = provider
        self.server = server
        self.environments = environments
    }

    /// Returns the request with everything that the client adds to it, for methods of the provider.
    ///
    /// ```swift
    /// let lines = try await api.provider.stream(api.resolved(Feed.lines())).lines()
    /// ```
    ///
    /// - Throws: `PipelineError` with code `invalidRequest` if there is no server or its base is not a URL.
    public func resolved<Output>(_ request: APIRequest<Output>) throws(PipelineError) -> APIRequest<Output> {
        let request = completed(request)
        if let failure = request.urlFailure { throw failure }
        return request
    }

    private func completed<Output>(_ request: APIRequest<Output>) -> APIRequest<Output> {
        request.with { parts in
            parts.server = parts.server ?? server ?? environments?.server
            parts.coders = coders
            let texts = options.errorTexts.overridden(by: parts.options.errorTexts)
            let (own, general) = (parts.options.errorText, options.errorText)
            parts.options = options.overridden(by: parts.options)
            guard let own, let general else { return }
            parts.options.errorTexts = texts
            // Either may come from a layer with texts of its own.
            parts.options.errorText = { own($0) ?? general($0) }
        }
    }

    /// Sends the request; returns it as it was sent, and the call, which the caller ends.
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

    /// A copy that keeps the current environment.
    var pinned: APIClient {
        var copy = self
        copy.server = server ?? environments?.server
        return copy
    }
}
