public import Dispatch
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
    ///   - redirects: which redirects are followed.
    ///   - limits: upper bounds.
    ///   - unhandledOptions: what happens if a call sets an option whose plugin is not in the stack.
    ///   - clock: the source of time.
    ///   - random: the source of chance.
    ///   - callbackQueue: where completions run that were given no queue of their own.
    ///   - coders: how values are encoded and responses decoded; `nil` for `JSONEncoder` and `JSONDecoder` without settings.
    ///   - endpoint: makes a target concrete; called for every call.
    public convenience init(
        plugins: [any PluginType] = [],
        redirects: RedirectPolicy = .standard,
        limits: PipelineLimits = PipelineLimits(),
        unhandledOptions: UnhandledOptionPolicy = .warn,
        clock: some Clock<Duration> = ContinuousClock(),
        random: PipelineRandom = .system,
        callbackQueue: DispatchQueue? = nil,
        coders: PipelineCoders? = nil,
        endpoint: (@Sendable (Target) throws -> Endpoint)? = nil
    ) {
        self.init(
            transport: DefaultTransport.make(),
            plugins: plugins,
            redirects: redirects,
            limits: limits,
            unhandledOptions: unhandledOptions,
            clock: clock,
            random: random,
            callbackQueue: callbackQueue,
            coders: coders,
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
