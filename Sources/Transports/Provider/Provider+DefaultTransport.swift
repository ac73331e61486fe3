public import Pipeline

extension Provider {
    /// Makes a provider that sends with the best transport that is compiled in.
    ///
    /// That is ``AsyncHTTPClientTransport`` on Linux when the package trait `AsyncHTTPClient` is on: it is faster there than Foundation,
    /// streams in both directions and can be cancelled at any time. Everywhere else it is ``URLSessionTransport``, which on Apple
    /// platforms knows the system's proxies, its VPN and its power rules.
    ///
    /// - Parameters:
    ///   - plugins: plugins and stacks, outermost first; a stack counts as its plugins.
    ///   - configuration: settings for all calls.
    ///   - endpoint: makes a target concrete; called for every call.
    public convenience init(
        plugins: [any PluginType] = [],
        configuration: ProviderConfiguration = ProviderConfiguration(),
        endpoint: (@Sendable (Target) throws -> Endpoint)? = nil
    ) {
        self.init(
            transport: DefaultTransport.make(),
            plugins: plugins,
            configuration: configuration,
            endpoint: endpoint
        )
    }
}

/// The transport of a provider that was given none.
package enum DefaultTransport {
    package static func make() -> any Transport {
        #if AsyncHTTPClient && os(Linux)
        AsyncHTTPClientTransport()
        #else
        URLSessionTransport()
        #endif
    }
}
