/// The settings that apply to all calls of a ``Provider``.
///
/// ```swift
/// let provider = Provider<GitHub>(
///     transport: URLSessionTransport(),
///     configuration: .init(redirects: .standard, callbackExecutor: .queue(.main))
/// )
/// ```
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `redirects` | ``RedirectPolicy/standard`` |
/// | `limits` | ``ProviderConfiguration/Limits`` |
/// | `unhandledOptions` | ``ProviderConfiguration/UnhandledOptionPolicy/warn`` |
/// | `findings` | ``ProviderConfiguration/FindingPolicy/warn`` |
/// | `clock` | `ContinuousClock` |
/// | `random` | ``PipelineRandom/system`` |
/// | `callbackExecutor` | none: completions run on a background executor |
/// | `timeline` | `false` |
/// | `coders` | ``ProviderConfiguration/Coders``: dates in ISO 8601, which Foundation's coders would read as numbers |
/// | `options` | none |
public struct ProviderConfiguration: Sendable {
    /// The policy that decides which redirects are followed.
    public var redirects: RedirectPolicy
    /// The limits of each call, such as the size of a buffered body.
    public var limits: ProviderConfiguration.Limits
    /// The policy for a call that sets an option whose plugin is not in the stack.
    public var unhandledOptions: ProviderConfiguration.UnhandledOptionPolicy
    /// The policy for leaks and faults in the order of the stack.
    public var findings: ProviderConfiguration.FindingPolicy
    /// The clock, the only source of time.
    public var clock: PipelineClock
    /// The random number generator, the only source of randomness.
    public var random: PipelineRandom
    /// The executor of completions that are isolated to no actor and were given no executor of their own, such as
    /// `.queue(.main)`; `nil` for a background executor.
    public var callbackExecutor: (any TaskExecutor)?
    /// The encoders and decoders of values; `nil` for the defaults of ``ProviderConfiguration/Coders``.
    public var coders: ProviderConfiguration.Coders?
    /// Whether calls record a ``Timeline``.
    public var timeline: Bool
    /// The options of all calls; those of the target and then those of the call override them, key by key.
    public var options: RequestOptions

    /// Makes a configuration.
    ///
    /// - Parameters:
    ///   - redirects: the policy that decides which redirects are followed.
    ///   - limits: the limits of each call, such as the size of a buffered body.
    ///   - unhandledOptions: the policy for a call that sets an option whose plugin is not in the stack.
    ///   - findings: the policy for leaks and faults in the order of the stack.
    ///   - clock: the clock, the only source of time.
    ///   - random: the random number generator, the only source of randomness.
    ///   - callbackExecutor: the executor of completions that are isolated to no actor and were given no executor of
    ///     their own, such as `.queue(.main)`; `nil` for a background executor.
    ///   - coders: the encoders and decoders of values; `nil` for the defaults of ``ProviderConfiguration/Coders``.
    ///   - timeline: whether calls record a ``Timeline``.
    ///   - options: the options of all calls.
    public init(
        redirects: RedirectPolicy = .standard,
        limits: ProviderConfiguration.Limits = ProviderConfiguration.Limits(),
        unhandledOptions: ProviderConfiguration.UnhandledOptionPolicy = .warn,
        findings: ProviderConfiguration.FindingPolicy = .warn,
        clock: some Clock<Duration> = ContinuousClock(),
        random: PipelineRandom = .system,
        callbackExecutor: (any TaskExecutor)? = nil,
        coders: ProviderConfiguration.Coders? = nil,
        timeline: Bool = false,
        options: RequestOptions = RequestOptions()
    ) {
        self.redirects = redirects
        self.limits = limits
        self.unhandledOptions = unhandledOptions
        self.findings = findings
        self.clock = PipelineClock(clock)
        self.random = random
        self.callbackExecutor = callbackExecutor
        self.coders = coders
        self.timeline = timeline
        self.options = options
    }
}
