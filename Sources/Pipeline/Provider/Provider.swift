package import Dispatch

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
/// | `configuration` | ``ProviderConfiguration`` |
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
    ///   - configuration: settings for all calls.
    ///   - endpoint: makes a target concrete; called for every call.
    public init(
        transport: any Transport,
        plugins: [any PluginType] = [],
        configuration: ProviderConfiguration = ProviderConfiguration(),
        endpoint: (@Sendable (Target) throws -> Endpoint)? = nil
    ) {
        let plugins = PluginStack(plugins).plugins
        let pipeline = CompiledPipeline(plugins: plugins, transport: transport)
        let settings = CallSettings(
            configuration,
            transportDecodesContent: transport.decodesContent,
            finishers: pipeline.finishers
        )
        let optionCheck = OptionCheck(configuration.unhandledOptions, handledBy: plugins, in: Self.self)
        self.engine = Engine(pipeline, settings, optionCheck)
        self.callbackQueue = configuration.callbackQueue
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
