import Synchronization

/// One hop with its exchange plugins around the wire.
final class Hop: Sendable {
    private struct State {
        var open: [OpenExchange] = []
        var exchangeCount = 0
        var hasSentOnce = false
        /// Whether the outermost plugin has returned and its response has been handled.
        var isClosed = false
    }

    private let plugins: [any Stage.Exchange]
    private let wire: Wire
    private let entry: PipelineRequest
    private let context: PipelineContext
    private let token = HopToken()
    private let state = Mutex(State())

    /// - Parameters:
    ///   - plugins: the exchange plugins, outermost first.
    ///   - wire: the wire inside the plugins.
    ///   - entry: the request that enters the hop.
    ///   - context: the context of the call.
    init(
        plugins: [any Stage.Exchange],
        wire: Wire,
        entry: PipelineRequest,
        _ context: PipelineContext
    ) {
        self.plugins = plugins
        self.wire = wire
        self.entry = entry
        var context = context
        context.hopEntry = entry
        self.context = context
    }

    /// Returns the same hop for another call, from the plugin at an index on.
    func inside(_ index: Int, _ request: PipelineRequest, _ context: PipelineContext) -> Hop {
        Hop(plugins: Array(plugins[index...]), wire: wire, entry: request, context)
    }

    /// Returns the result of the hop, and the request that has to follow it.
    func run() async -> (CallResult, FollowUp?) {
        let result = await run(0, entry, context)
        switch result {
        case .success(let response):
            let exchangeCount = state.withLock { $0.exchangeCount }
            let (result, followUp) = await response.end(hopOf: entry, exchangeCount: exchangeCount, context)
            await close()
            return (result.ended(context), followUp)
        case .failure:
            await close()
            return (result.ended(context), nil)
        }
    }

    /// Returns the result of the hop, whose body can be read until ``close()``.
    func open() async -> CallResult {
        let result = await run(0, entry, context)
        guard case .success(var response) = result else { return result.ended(context) }
        response.exchanges = context.exchanges
        return .success(response)
    }

    /// Runs the plugin at an index, or the exchange inside the last one.
    func run(_ index: Int, _ request: PipelineRequest, _ context: PipelineContext) async -> CallResult {
        if Task.isCancelled { return .failure(.cancelled(before: request)) }
        guard index < plugins.count else { return await exchange(request, context) }
        let plugin = plugins[index]
        let door = Stage.Send.Door()
        defer { door.close() }
        do {
            let send = Stage.Send(hop: self, index: index + 1, context: context, door: door)
            var response = try await plugin.exchange(request, context: context, send: send)
            if response.hopToken !== token {
                response.request = request
                if response.source == nil || response.source == .network {
                    response.source = .init(rawValue: plugin.name)
                }
                response.hopToken = token
                response.exchangeID = nil
            }
            return .success(response)
        } catch {
            return .failure(PipelineError(thrown: error, by: plugin, in: .exchange, request, context))
        }
    }

    /// Makes one exchange over the wire.
    private func exchange(_ request: PipelineRequest, _ context: PipelineContext) async -> CallResult {
        var context = context
        switch begin(request) {
        case .success(let number): if number > 0 { context.exchangeNumber += number }
        case .failure(var failure):
            failure.request = request
            failure.exchanges = context.exchanges
            return .failure(failure)
        }
        let (result, open) = await wire.exchange(request, context, isFirst: false, isInHop: true)
        guard case .success(var response) = result else { return result }
        if let open {
            let isLate = state.withLock { state in
                if !state.isClosed { state.open.append(open) }
                return state.isClosed
            }
            if isLate { await open.discard() }
        }
        // No plugin learns from a response that no caller waits for, such as that of a copy that came too late.
        if Task.isCancelled { return .failure(.cancelled(before: request)) }
        response.hopToken = token
        return .success(response)
    }

    /// Numbers an exchange, or returns the failure if it is not allowed.
    private func begin(_ request: PipelineRequest) -> Result<Int, PipelineError> {
        let isReplayable = request.body.isReplayable
        return state.withLock { state in
            guard isReplayable || !state.hasSentOnce else {
                return .failure(
                    PipelineError(.bodyConsumed, "a body that cannot be replayed was sent before in this hop")
                )
            }
            guard state.exchangeCount < context.limits.exchangeCount else {
                return .failure(.tooManyExchanges(context))
            }
            if !isReplayable { state.hasSentOnce = true }
            defer { state.exchangeCount += 1 }
            return .success(state.exchangeCount)
        }
    }

    /// Closes the exchanges whose bodies have not been read to their end.
    ///
    /// A streamed exchange ends with its body.
    func close() async {
        let open = state.withLock { state in
            state.isClosed = true
            defer { state.open = [] }
            return state.open
        }
        await withTaskGroup(of: Void.self) { group in
            for exchange in open { group.addTask { await exchange.discard() } }
        }
    }
}
