public import Dispatch
import Synchronization

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
/// | `endpoint` | `Endpoint(target)` |
public final class Provider<Target: TargetType>: Sendable {
    let pipeline: CompiledPipeline
    let settings: CallSettings
    package let callbackQueue: DispatchQueue?
    private let optionCheck: OptionCheck
    private let makeEndpoint: (@Sendable (Target) throws -> Endpoint)?
    private let callCount = CallCount()
    private let isMulti = Target.self == MultiTarget.self

    /// Makes a provider.
    ///
    /// A plugin that takes part in no stage is a programmer error and stops the program here.
    ///
    /// - Parameters:
    ///   - transport: what the pipeline ends in.
    ///   - plugins: the stack, outermost first.
    ///   - redirects: which redirects are followed.
    ///   - limits: upper bounds.
    ///   - unhandledOptions: what happens if a call sets an option whose plugin is not in the stack.
    ///   - clock: the source of time.
    ///   - random: the source of chance.
    ///   - callbackQueue: where completions run that belong to no actor and were given no queue of their own.
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
        endpoint: (@Sendable (Target) throws -> Endpoint)? = nil
    ) {
        self.pipeline = CompiledPipeline(plugins: plugins, transport: transport)
        self.settings = CallSettings(
            limits: limits,
            redirects: redirects,
            clock: PipelineClock(clock),
            random: random,
            transportDecodesContent: transport.decodesContent,
            finishers: pipeline.finishers
        )
        self.optionCheck = OptionCheck(unhandledOptions, handledBy: plugins)
        self.callbackQueue = callbackQueue
        self.makeEndpoint = endpoint
    }

    /// The stack, outermost first.
    public var plugins: [any PluginType] { pipeline.plugins }

    /// The endpoint that a target becomes.
    public func endpoint(_ target: Target) throws -> Endpoint {
        try makeEndpoint?(target) ?? Endpoint(target)
    }

    /// The stack in words, with what is wrong with its order.
    public func explain() -> PipelineDescription {
        PipelineDescription(plugins: pipeline.plugins, transport: pipeline.transport)
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

extension Provider {
    /// What a kind of call adds to the request before any plugin sees it.
    package typealias Amendment = @Sendable (inout PipelineRequest) throws -> Void

    /// The path of a call from the target to the validated response; the caller ends it.
    package func perform(
        _ target: Target,
        _ options: RequestOptions,
        isStreaming: Bool,
        meter: ProgressMeter? = nil,
        amend: Amendment? = nil,
        onStart: (@Sendable () -> Void)? = nil
    ) async -> PerformedCall {
        if Task.isCancelled {
            let error = PipelineError(.cancelled, "the call was cancelled before it began")
            return PerformedCall(.failure(error), of: makeUnbegunCall(target, options, isStreaming))
        }
        guard !pipeline.plugins.isEmpty else {
            let call = await run(target, options, isStreaming, meter, onStart, amend)
            if let lane = call.lane { await lane.settle() }
            return call.described(by: target.options.overridden(by: options))
        }
        let depth = CallDepth.current
        guard depth < settings.limits.nestedCallCount else {
            let error = PipelineError(.limit(.nestedCalls), "plugins made calls inside calls, \(depth) deep")
            // Deeper ones are seen by no plugin: else one that makes a call for each that has ended would never stop.
            let isFirst = depth == settings.limits.nestedCallCount
            return PerformedCall(.failure(error), of: isFirst ? makeUnbegunCall(target, options, isStreaming) : nil)
        }
        let call = await CallDepth.$current.withValue(depth + 1) {
            await run(target, options, isStreaming, meter, onStart, amend)
        }
        if let lane = call.lane { await lane.settle() }
        return call.described(by: target.options.overridden(by: options))
    }

    private func run(
        _ target: Target,
        _ options: RequestOptions,
        _ isStreaming: Bool,
        _ meter: ProgressMeter?,
        _ onStart: (@Sendable () -> Void)?,
        _ amend: Amendment?
    ) async -> PerformedCall {
        let (context, begun) = begin(target, options, isStreaming, meter, onStart, amend)
        let result: CallResult
        switch begun {
        case .success(let request) where request.body.isUnmeasured: result = await runMeasuring(request, context)
        case .success(let request): result = await finish(await pipeline.outermost.run(request, context), context)
        case .failure(let error): result = await fail(error, context)
        }
        return PerformedCall(await validate(result, target.validationType, context), of: context.call)
    }

    /// The result of a request with files, which are measured before any plugin sees it.
    @inline(never)
    private func runMeasuring(_ request: PipelineRequest, _ context: PipelineContext) async -> CallResult {
        var request = request
        do {
            request.body = try await request.body.measured()
        } catch {
            return await fail(error, context)
        }
        return await finish(await pipeline.outermost.run(request, context), context)
    }

    /// What the status of a response makes of a result.
    private func validate(
        _ result: CallResult,
        _ accepted: ValidationType,
        _ context: PipelineContext
    ) async -> CallResult {
        guard case .success(let response) = result else { return result }
        guard accepted.accepts(response.statusCode) else {
            return .failure(await failure(of: response, context.options, accepted))
        }
        guard let download = context.call.download else { return result }
        return await place(response, download, context)
    }

    /// The call, and its request before any plugin has seen it.
    ///
    /// Not inlined, here and below: every value that an async function works with takes room in each call that waits inside of it.
    @inline(never)
    private func begin(
        _ target: Target,
        _ options: RequestOptions,
        _ isStreaming: Bool,
        _ meter: ProgressMeter?,
        _ onStart: (@Sendable () -> Void)?,
        _ amend: Amendment?
    ) -> (PipelineContext, Result<PipelineRequest, any Error>) {
        let endpoint = Result { try self.endpoint(target) }
        let used = (try? endpoint.get()) ?? Endpoint(target)
        let context = PipelineContext(call: makeCall(target, used, options, isStreaming, meter, onStart))
        let request = Result {
            try optionCheck.check(context.options, in: Self.self)
            var request = try makeRequest(of: endpoint.get(), context)
            try amend?(&request)
            context.call.download?.prepare(&request, context)
            return request
        }
        return (context, request)
    }

    private func makeRequest(of endpoint: Endpoint, _ context: PipelineContext) throws -> PipelineRequest {
        do {
            return try endpoint.makeRequest(random: settings.random, files: .deferred)
        } catch let error as PipelineError
            where [.invalidRequest(.url), .invalidRequest(.scheme)].contains(error.code)
            && endpoint.url == Endpoint(context.target).url
        {
            throw (context.target as? any URLFailureExplaining)?.urlFailure ?? error
        }
    }

    /// The answer to a download with its file where it was wanted.
    private func place(
        _ response: PipelineResponse,
        _ download: Download,
        _ context: PipelineContext
    ) async -> CallResult {
        do {
            return .success(try await download.place(response, context))
        } catch {
            var failure = PipelineError(thrown: error, otherwise: .file, "the file could not be put in its place")
            var answer = response
            // Else the temporary file would live as long as the error does.
            if answer.body.bytes == nil { answer.body = .none }
            failure.response = answer
            failure.request = response.request
            failure.exchanges = response.exchanges
            return .failure(failure)
        }
    }

    /// Whatever plugins made of it: a body as the caller reads it, and all exchanges of this call and of no other.
    private func finish(_ result: CallResult, _ context: PipelineContext) async -> CallResult {
        let exchanges = context.exchanges
        switch result {
        case .success(let response):
            let isWhole = response.exchanges.isSameArray(as: exchanges)
            if isWhole, !response.needsBuffering(context), !response.body.isUnmeasured { return result }
            var response = response
            response.exchanges = exchanges
            do {
                if response.body.isUnmeasured, let body = try? await response.body.measured() { response.body = body }
                if response.needsBuffering(context) { response = try await response.buffered(context) }
                return .success(response)
            } catch {
                var failure = PipelineError(thrown: error, otherwise: .transport, "the body could not be read")
                failure.request = response.request
                failure.exchanges = exchanges
                return .failure(failure)
            }
        case .failure(var error):
            if !error.exchanges.isSameArray(as: exchanges) { error.exchanges = exchanges }
            return .failure(error)
        }
    }

    private func makeCall(
        _ target: Target,
        _ endpoint: consuming Endpoint,
        _ options: RequestOptions,
        _ isStreaming: Bool,
        _ meter: ProgressMeter?,
        _ onStart: (@Sendable () -> Void)?
    ) -> CallState {
        CallState(
            id: callCount.next(),
            target: isMulti ? MultiTarget(target).target : target,
            endpoint: endpoint,
            options: target.options.overridden(by: options),
            isStreaming: isStreaming,
            meter: meter,
            onStart: onStart,
            settings: settings
        )
    }

    /// A call that no stage but didFinish sees; `nil` if no plugin has that stage.
    @inline(never)
    private func makeUnbegunCall(_ target: Target, _ options: RequestOptions, _ isStreaming: Bool) -> CallState? {
        guard !settings.finishers.isEmpty else { return nil }
        let call = makeCall(target, Endpoint(target), options, isStreaming, nil, nil)
        call.noteUnbegun()
        return call
    }

    private func fail(_ error: any Error, _ context: PipelineContext) async -> CallResult {
        context.call.noteUnbegun()
        var failure = PipelineError(
            thrown: error,
            otherwise: .encoding,
            "the endpoint closure threw \(PipelineError.name(of: error))"
        )
        if failure.request == nil { failure.request = context.call.endpoint.emptyRequest }
        var result = CallResult.failure(failure)
        await pipeline.outermost.processAll(&result, context)
        return result
    }

    /// The failure of a status that the target does not accept, with its body when that comes soon and is short.
    func failure(
        of response: PipelineResponse,
        _ options: RequestOptions,
        _ accepted: ValidationType
    ) async -> PipelineError {
        var response = response
        if response.body.bytes == nil {
            let body = response.body
            let limit = settings.limits.discardedBodyByteCount
            let timeout = response.request.attemptTimeout(in: options) ?? .seconds(10)
            // What has been written to a file is here, and waits for nobody.
            let data =
                body.writtenFile != nil
                ? try? await body.collect(upTo: limit)
                : try? await settings.clock.run(within: timeout) { try await body.collect(upTo: limit) }
            if Task.isCancelled { return .cancelled(before: response.request) }
            response.body = data.map { .bytes($0) } ?? .none
        }
        let reason = "the status \(response.statusCode) is not one that the target accepts: \(accepted)"
        return PipelineError(.unacceptableStatus, reason, response: response)
    }
}

extension [PipelineExchange] {
    /// Whether two arrays are one in memory; equal ones of two calls are not.
    fileprivate func isSameArray(as other: [PipelineExchange]) -> Bool {
        guard count == other.count else { return false }
        return isEmpty
            || withUnsafeBufferPointer { mine in other.withUnsafeBufferPointer { mine.baseAddress == $0.baseAddress } }
    }
}

/// Every call writes it: it keeps a line of memory to itself, so that processors do not wait to read what stands beside it.
private final class CallCount: Sendable {
    private typealias Padding = (Int, Int, Int, Int, Int, Int, Int)

    private let before: Padding = (0, 0, 0, 0, 0, 0, 0)
    private let count = Atomic(0)
    private let after: Padding = (0, 0, 0, 0, 0, 0, 0)

    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}
