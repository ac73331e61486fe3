public import Dispatch

/// What users hold: sends targets through a stack of plugins to a transport.
///
/// Make one and share it; it is safe to use from everywhere at once. Calls that are under way finish even when the provider
/// is released.
///
/// ```swift
/// let provider = Provider<GitHub>(
///     transport: URLSessionTransport(),
///     plugins: [
///         LoggingPlugin(level: .info),
///         AccessTokenPlugin { _ in try await session.token() },
///     ])
/// let zen = try await provider.request(.zen).mapString()
/// ```
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `plugins` | none |
/// | `redirects` | ``RedirectPolicy/standard`` |
/// | `limits` | ``PipelineLimits`` |
/// | `unhandledOptions` | ``UnhandledOptionPolicy/warn`` |
/// | `clock` | `ContinuousClock` |
/// | `random` | ``PipelineRandom/system`` |
/// | `callbackQueue` | none: completions run on a background executor |
/// | `coders` | none: `JSONEncoder` with sorted keys and `JSONDecoder` |
/// | `endpoint` | `Endpoint(target)` |
public final class Provider<Target: TargetType>: Sendable {
    let engine: Engine
    package let callbackQueue: DispatchQueue?
    private let makeEndpoint: (@Sendable (Target) throws -> Endpoint)?
    let isMulti = Target.self == MultiTarget.self

    /// Makes a provider.
    ///
    /// A plugin that conforms to no stage is a programmer error and stops the program here.
    ///
    /// - Parameters:
    ///   - transport: sends the requests.
    ///   - plugins: plugins and stacks, outermost first; a stack counts as its plugins.
    ///   - redirects: which redirects are followed.
    ///   - limits: upper bounds.
    ///   - unhandledOptions: what happens if a call sets an option whose plugin is not in the stack.
    ///   - clock: the source of time.
    ///   - random: the source of chance.
    ///   - callbackQueue: where completions run that belong to no actor and were given no queue of their own.
    ///   - coders: how values are encoded and responses decoded; `nil` for `JSONEncoder` and `JSONDecoder` without settings.
    ///   - endpoint: makes a target concrete; called for every call.
    public init(
        transport: any Transport,
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
        let plugins = PluginStack(plugins).plugins
        let pipeline = CompiledPipeline(plugins: plugins, transport: transport)
        let settings = CallSettings(
            limits: limits,
            redirects: redirects,
            clock: PipelineClock(clock),
            random: random,
            coders: coders,
            transportDecodesContent: transport.decodesContent,
            finishers: pipeline.finishers
        )
        let optionCheck = OptionCheck(unhandledOptions, handledBy: plugins, in: Self.self)
        self.engine = Engine(pipeline, settings, optionCheck)
        self.callbackQueue = callbackQueue
        self.makeEndpoint = endpoint
    }

    /// The plugins, outermost first, those of stacks one by one.
    public var plugins: [any PluginType] { engine.pipeline.plugins }

    /// The endpoint that a target becomes.
    public func endpoint(_ target: Target) throws -> Endpoint {
        try makeEndpoint?(target) ?? Endpoint(target)
    }

    /// The stack in words, with what is wrong with its order.
    public func explain() -> PipelineDescription {
        PipelineDescription(plugins: plugins, transport: engine.pipeline.transport)
    }

    /// Sends a target and returns the response with its body in memory.
    ///
    /// - Parameters:
    ///   - target: what to ask.
    ///   - options: settings of this call; they win over the target's own.
    /// - Returns: the response, of any status that the target accepts. A 206 that the request did not ask for is returned like any other
    ///   status, so a target that takes a body for the whole resource accepts 200 alone; a download refuses such a 206.
    /// - Throws: ``PipelineError``; `CancellationError` when the task was cancelled.
    @concurrent
    public func request(
        _ target: Target,
        options: RequestOptions = RequestOptions()
    ) async throws -> PipelineResponse {
        try await perform(target, options, isStreaming: false).finished().awaited
    }

    /// Sends a target and returns the response as soon as its header fields are there.
    ///
    /// The destination of a task that downloads is not used: the caller reads the body.
    ///
    /// - Parameters:
    ///   - target: what to ask.
    ///   - options: settings of this call; they win over the target's own.
    /// - Returns: the response, of any status that the target accepts.
    /// - Throws: ``PipelineError``; `CancellationError` when the task was cancelled. The body throws the same. The error of a
    ///   status that the target does not accept has the body if that comes within ``RequestOptions/attemptTimeout`` (10 s
    ///   without) and ``PipelineLimits/discardedBodyByteCount``.
    @concurrent
    public func stream(
        _ target: Target,
        options: RequestOptions = RequestOptions()
    ) async throws -> StreamedResponse {
        StreamedResponse(try await perform(target, options, isStreaming: true).streamed().awaited)
    }
}
