public import Dispatch

extension Provider {
    /// Makes a provider of a stack.
    ///
    /// - Parameters:
    ///   - transport: what the pipeline ends in.
    ///   - plugins: the stack.
    ///   - redirects: which redirects are followed.
    ///   - limits: upper bounds.
    ///   - unhandledOptions: what happens if a call sets an option whose plugin is not in the stack.
    ///   - clock: the source of time.
    ///   - random: the source of chance.
    ///   - callbackQueue: where completions run that were given no queue of their own.
    ///   - coders: how values are encoded and responses decoded; `nil` for `JSONEncoder` and `JSONDecoder` without settings.
    ///   - endpoint: makes a target concrete; called for every call.
    public convenience init(
        transport: any Transport,
        plugins: PluginStack,
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
            transport: transport,
            plugins: plugins.plugins,
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
