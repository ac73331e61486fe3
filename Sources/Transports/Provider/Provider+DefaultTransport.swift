public import PipelineCore

extension Provider {
    /// Creates a provider with the best transport that is compiled in.
    ///
    /// On Linux and Android, this is ``AsyncHTTPClientTransport`` if the package trait `AsyncHTTPClient` is enabled. It
    /// is faster there than Foundation, streams in both directions and can be cancelled at any time. Everywhere else it
    /// is ``URLSessionTransport``, which supports the system's proxies, VPN and power management on Apple platforms.
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

/// The transport of a provider for which none is specified.
package enum DefaultTransport {
    package static func make() -> any Transport {
        #if AsyncHTTPClient && (os(Linux) || os(Android))
        AsyncHTTPClientTransport()
        #else
        URLSessionTransport()
        #endif
    }
}
