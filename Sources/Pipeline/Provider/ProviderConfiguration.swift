public import Dispatch

/// The settings of a ``Provider`` that hold for all of its calls.
///
/// ```swift
/// let provider = Provider<GitHub>(
///     transport: URLSessionTransport(),
///     configuration: .init(redirects: .standard, callbackQueue: .main)
/// )
/// ```
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `redirects` | ``RedirectPolicy/standard`` |
/// | `limits` | ``PipelineLimits`` |
/// | `unhandledOptions` | ``UnhandledOptionPolicy/warn`` |
/// | `clock` | `ContinuousClock` |
/// | `random` | ``PipelineRandom/system`` |
/// | `callbackQueue` | none: completions run on a background executor |
/// | `coders` | none: `JSONEncoder` with sorted keys and `JSONDecoder` |
public struct ProviderConfiguration: Sendable {
    /// Which redirects are followed.
    public var redirects: RedirectPolicy
    /// The upper bounds.
    public var limits: PipelineLimits
    /// What happens if a call sets an option whose plugin is not in the stack.
    public var unhandledOptions: UnhandledOptionPolicy
    /// The source of time.
    public var clock: PipelineClock
    /// The source of random numbers.
    public var random: PipelineRandom
    /// The queue of completions that belong to no actor and were given no queue of their own; `nil` for a background executor.
    public var callbackQueue: DispatchQueue?
    /// The encoders and decoders of values; `nil` for `JSONEncoder` with sorted keys and `JSONDecoder`.
    public var coders: PipelineCoders?

    /// Makes a configuration.
    ///
    /// - Parameters:
    ///   - redirects: which redirects are followed.
    ///   - limits: the upper bounds.
    ///   - unhandledOptions: what happens if a call sets an option whose plugin is not in the stack.
    ///   - clock: the source of time.
    ///   - random: the source of random numbers.
    ///   - callbackQueue: the queue of completions that belong to no actor and were given no queue of their own.
    ///   - coders: the encoders and decoders of values; `nil` for `JSONEncoder` with sorted keys and `JSONDecoder`.
    public init(
        redirects: RedirectPolicy = .standard,
        limits: PipelineLimits = PipelineLimits(),
        unhandledOptions: UnhandledOptionPolicy = .warn,
        clock: some Clock<Duration> = ContinuousClock(),
        random: PipelineRandom = .system,
        callbackQueue: DispatchQueue? = nil,
        coders: PipelineCoders? = nil
    ) {
        self.redirects = redirects
        self.limits = limits
        self.unhandledOptions = unhandledOptions
        self.clock = PipelineClock(clock)
        self.random = random
        self.callbackQueue = callbackQueue
        self.coders = coders
    }
}
