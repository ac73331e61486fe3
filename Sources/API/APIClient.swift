public import PipelineCore

/// A client that sends ``APIRequest``s through a provider, with settings that all of them share.
///
/// ```swift
/// var api = APIClient(provider, environments: environments)
/// api.options.errorTexts.set("You are not logged in", for: .unauthorized)
/// let posts = try await api.send(PostController.list())
/// ```
///
/// An `APIClient` is a value: to use other settings somewhere, change a copy and pass it on. To send the same header
/// fields with every request, add a `HeadersPlugin` to the provider. To handle every 401, add an `UnauthorizedPlugin`.
///
/// **Effects**: a request goes to its own server, else to ``server``, else to that of ``environments`` when the call
/// begins. The server is part of the target that plugins see, so credentials are sent only to its origin.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `server`, `environments` | none |
/// | `coders` | `ProviderConfiguration.Coders` |
/// | `options` | none; the request's options take precedence for each key, and its `errorTexts` for each text |
///
/// **Errors**: those of ``APIRequest`` and of the provider. `invalidRequest.url` if neither the request nor the client
/// has a server, or if the base of the server is not a URL.
public struct APIClient: Sendable {
    /// The provider that sends the requests.
    public let provider: Provider<MultiTarget>
    /// The server of requests that have no server of their own.
    public var server: ServerURL?
    /// The environments that provide the server if neither the request nor ``server`` has one.
    public var environments: APIEnvironments?
    /// The encoders and decoders for values of requests and responses.
    public var coders = ProviderConfiguration.Coders()
    /// The options that apply to all requests.
    public var options = RequestOptions()

    /// Creates a client that sends requests through a provider.
    ///
    /// - Parameters:
    ///   - provider: the provider that sends the requests.
    ///   - server: the server of requests that have no server of their own; defaults to `nil`.
    ///   - environments: the environments that provide the server if `server` is `nil`; defaults to `nil`.
    public init(_ provider: Provider<MultiTarget>, server: ServerURL? = nil, environments: APIEnvironments? = nil) {
        self.provider = provider
        self.server = server
        self.environments = environments
    }

    /// Returns the request completed with the client's settings, so that you can pass it to a method of the provider.
    ///
    /// ```swift
    /// let lines = try await api.provider.stream(api.resolved(Feed.lines())).lines()
    /// ```
    ///
    /// - Throws: `PipelineError` with code `invalidRequest` if the server is missing or its base is not a URL.
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
            // Either may come from a layer that has its own texts.
            parts.options.errorText = { own($0) ?? general($0) }
        }
    }

    /// Sends the request; returns it as sent, and the call, which the caller must end.
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
                for: .value,
                meter: meter,
                onStart: onStart
            )
        )
    }

    /// A copy that always uses the current environment.
    var pinned: APIClient {
        var copy = self
        copy.server = server ?? environments?.server
        return copy
    }
}
