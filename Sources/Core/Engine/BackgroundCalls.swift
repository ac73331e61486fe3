import Synchronization

/// The calls of a provider that plugins have begun in the background.
final class BackgroundCalls: Sendable {
    /// The maximum number of background calls at a time.
    static let maximumCount = 16

    private struct State {
        /// The tasks by the number of their call; `nil` until the task is made.
        var tasks: [Int: Task<Void, Never>?] = [:]
        var isShutDown = false
    }

    private let state = Mutex(State())
    /// The number of these calls.
    private let own = CallsInProgress()
    /// The number of all calls of the provider.
    private let all: CallsInProgress

    init(among all: CallsInProgress) {
        self.all = all
    }

    /// Runs work in a separate task.
    ///
    /// - Returns: the task; `nil` if the maximum number is running, or after ``shutdown()``.
    func start(_ id: Int, _ work: @escaping @Sendable () async -> Void) -> Task<Void, Never>? {
        let isRefused = state.withLock { state in
            guard !state.isShutDown, state.tasks.count < Self.maximumCount else { return true }
            state.tasks[id] = .some(nil)
            return false
        }
        if isRefused { return nil }
        own.begin()
        all.begin()
        let task = Task(executorPreference: SeparateTasks.executor) {
            await work()
            self.end(id)
        }
        let isCancelled = state.withLock { state in
            if state.tasks[id] != nil { state.tasks[id] = .some(task) }
            return state.isShutDown
        }
        if isCancelled { task.cancel() }
        return task
    }

    private func end(_ id: Int) {
        state.withLock { _ = $0.tasks.removeValue(forKey: id) }
        own.end()
        all.end()
    }

    /// Cancels all calls and refuses new ones.
    func shutdown() {
        state.withLock { $0.isShutDown = true }
        cancelAll()
    }

    /// Cancels all calls.
    func cancelAll() {
        for task in state.withLock({ Array($0.tasks.values) }) { task?.cancel() }
    }

    /// Waits until no background call is left, or until the waiting task is cancelled.
    func drain() async { await own.drain() }
}

extension PipelineContext {
    /// Makes the context of a background call that this call begins.
    ///
    /// - Parameter isOpen: whether the body of its response is read in pieces, of which none is kept.
    /// - Returns: the context.
    private func makeChild(isOpen: Bool) -> PipelineContext {
        PipelineContext(call: CallState(childOf: call, isOpen: isOpen), onHopOf: self)
    }

    /// Runs a background call.
    ///
    /// - Parameters:
    ///   - request: the request; it is refused if it cannot be replayed, because the parent may send it, too.
    ///   - isOpen: whether the body of the response is read in pieces.
    ///   - run: sends the request; also returns the hop to close when the body has been read.
    ///   - end: receives the result.
    /// - Returns: the task; `nil` if the call is refused.
    func startBackgroundCall(
        _ request: PipelineRequest,
        isOpen: Bool,
        run: @escaping @Sendable (PipelineContext) async -> (CallResult, Hop?),
        then end: @escaping @Sendable (Result<PipelineResponse, any Error>) async -> Void
    ) -> Task<Void, Never>? {
        let depth = CallDepth.current + 1
        guard depth <= limits.nestedCallCount, request.body.isReplayable else { return nil }
        let child = makeChild(isOpen: isOpen)
        return call.settings.background.start(child.callID) {
            await CallDepth.$current.withValue(depth) {
                let (result, hop) = await run(child)
                // The call ends with the body, or when that is dropped, after its exchange.
                let streamed = PerformedCall(result, of: child.call).streamed()
                await end(Result { try streamed.getPassedOn() })
                await hop?.close()
                withExtendedLifetime(streamed) {}
            }
        }
    }
}

extension CallResult {
    /// Returns the result with its body in memory, up to the limit.
    func inMemory(_ context: PipelineContext) async -> CallResult {
        guard case .success(let response) = self, response.needsBuffering(context) else { return self }
        do {
            return .success(try await response.buffered(context))
        } catch {
            return .failure(PipelineError(thrown: error, otherwise: .transport, "the body could not be read"))
        }
    }
}
