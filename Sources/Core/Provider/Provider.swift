/// A client that sends targets through a stack of plugins to a transport.
///
/// Make one and share it; it is safe to use concurrently. Calls in progress finish even if the provider is released.
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
    package let callbackExecutor: (any TaskExecutor)?
    private let makeEndpoint: (@Sendable (Target) throws -> Endpoint)?
    let isMulti = Target.self == MultiTarget.self

    /// Makes a provider from a transport and plugins.
    ///
    /// If a plugin conforms to no stage, the program stops, because that is a programmer error. Leaks and faults in the
    /// order of the stack are reported, see ``ProviderConfiguration/FindingPolicy``.
    ///
    /// - Parameters:
    ///   - transport: the transport that sends the requests.
    ///   - plugins: the plugins and stacks, outermost first; a stack counts as its plugins.
    ///   - configuration: the settings of all calls.
    ///   - endpoint: a closure that makes the endpoint of a target, called for every call; defaults to `nil`, which
    ///     uses `Endpoint(target)`.
    public init(
        transport: any Transport,
        plugins: [any PluginType] = [],
        configuration: ProviderConfiguration = ProviderConfiguration(),
        endpoint: (@Sendable (Target) throws -> Endpoint)? = nil
    ) {
        let plugins = PluginStack(plugins).plugins
        let pipeline = CompiledPipeline(plugins, transport, timing: configuration.timeline ? .timeline : .none)
        let settings = CallSettings(
            configuration,
            transportDecodesContent: transport.decodesContent,
            finishers: pipeline.finishers,
            operatorLog: PipelineContext.OperatorLog(of: plugins)
        )
        let optionCheck = OptionCheck(configuration.unhandledOptions, handledBy: plugins, in: Self.self)
        self.engine = Engine(pipeline, settings, optionCheck)
        configuration.findings.report(plugins, transport, for: Target.self)
        self.callbackExecutor = configuration.callbackExecutor
        self.makeEndpoint = endpoint
    }

    /// The plugins, outermost first, including those of stacks.
    public var plugins: [any PluginType] { engine.pipeline.plugins }

    /// Returns the endpoint of a target, made by the endpoint closure if there is one.
    public func endpoint(_ target: Target) throws -> Endpoint {
        try makeEndpoint?(target) ?? Endpoint(target)
    }

    /// Returns a description of the stack that lists problems with its order.
    public func explain() -> PipelineDescription {
        PipelineDescription(plugins: plugins, transport: engine.pipeline.transport, target: Target.self)
    }

    /// Sends a target for its effect, such as a deletion: returns once the server has accepted it.
    ///
    /// ```swift
    /// try await provider.send(.delete(id: 3))
    /// ```
    ///
    /// - Parameters:
    ///   - target: the target to send.
    ///   - options: the options of this call; they override those of the target.
    /// - Throws: ``PipelineError``, with code ``PipelineError/Code-swift.struct/unacceptableStatus`` for a status other
    ///   than 200 to 299 unless the target accepts it; `CancellationError` if the task was cancelled.
    @concurrent
    public func send(_ target: Target, options: RequestOptions = RequestOptions()) async throws {
        _ = try await perform(target, options, for: .value).finished().awaited
    }

    /// Sends a target and returns the response with its body in memory.
    ///
    /// - Parameters:
    ///   - target: the target to send.
    ///   - options: the options of this call; they override those of the target.
    /// - Returns: the response, with every status unless the target accepts only some. A 206 that the request did not
    ///   ask for is returned like any other status. A target that needs the whole resource must therefore accept only
    ///   200. A download refuses such a 206.
    /// - Throws: ``PipelineError``; `CancellationError` if the task was cancelled.
    @concurrent
    public func request(
        _ target: Target,
        options: RequestOptions = RequestOptions()
    ) async throws -> PipelineResponse {
        try await perform(target, options, for: .response).finished().awaited
    }

    /// Sends a target and returns the response as soon as its header fields have arrived.
    ///
    /// The destination of a download task is ignored, because the caller reads the body.
    ///
    /// - Parameters:
    ///   - target: the target to send.
    ///   - options: the options of this call; they override those of the target.
    /// - Returns: the response, with any status that the target accepts.
    /// - Throws: ``PipelineError``; `CancellationError` if the task was cancelled. Reading the body throws the same
    ///   errors; further reads throw that error again. If the target does not accept the status, the error includes the
    ///   body, provided that it arrives within ``RequestOptions/attemptTimeout`` (10 s if not set) and does not
    ///   exceed ``ProviderConfiguration/Limits/discardedBodyByteCount``.
    @concurrent
    public func stream(
        _ target: Target,
        options: RequestOptions = RequestOptions()
    ) async throws -> StreamedResponse {
        StreamedResponse(try await perform(target, options, for: .stream).streamed().awaited)
    }
}

extension Provider: SafelyDescribed {
    /// The target's type, the names of the plugins, outermost first, and that of the transport.
    public var description: String {
        let names = plugins.map(\.name) + [engine.pipeline.transport.name]
        return "Provider<\(Target.self)>: \(names.joined(separator: ", "))"
    }
}
