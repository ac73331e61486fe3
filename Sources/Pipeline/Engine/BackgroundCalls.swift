import Synchronization

/// The calls of a provider that plugins have begun and nobody waits for.
final class BackgroundCalls: Sendable {
    /// The most at once.
    static let maximumCount = 16

    private struct State {
        /// By the number of the call; `nil` until its task is made.
        var tasks: [Int: Task<Void, Never>?] = [:]
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWaiter = 0
        var isShutDown = false
    }

    private let state = Mutex(State())

    var isEmpty: Bool { state.withLock { $0.tasks.isEmpty } }

    /// Runs work in a task of its own.
    ///
    /// - Returns: the task; `nil` if there are as many as may be, or after ``shutdown()``.
    func start(_ id: Int, _ work: @escaping @Sendable () async -> Void) -> Task<Void, Never>? {
        let isRefused = state.withLock { state in
            guard !state.isShutDown, state.tasks.count < Self.maximumCount else { return true }
            state.tasks[id] = .some(nil)
            return false
        }
        if isRefused { return nil }
        let task = Task {
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
        let waiters = state.withLock { state in
            state.tasks[id] = nil
            guard state.tasks.isEmpty else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Cancels all, and refuses those to come.
    func shutdown() {
        let tasks = state.withLock { state in
            state.isShutDown = true
            return Array(state.tasks.values)
        }
        for task in tasks { task?.cancel() }
    }

    /// Waits until there are none, or until the waiting task is cancelled.
    func drain() async {
        let number = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let isOver = state.withLock { state in
                    guard !state.tasks.isEmpty, !Task.isCancelled else { return true }
                    state.waiters[number] = waiter
                    return false
                }
                if isOver { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
        }
    }
}

extension PipelineContext {
    /// The context of a call that this one begins in the background.
    private func makeChild() -> PipelineContext {
        PipelineContext(call: CallState(childOf: call), onHopOf: self)
    }

    /// Runs a call of its own.
    ///
    /// - Parameters:
    ///   - request: the request; one that cannot be replayed is refused, because the parent may send it, too.
    ///   - run: sends the request.
    ///   - end: gets the result, with its body in memory.
    /// - Returns: the task; `nil` if it is refused.
    func startBackgroundCall(
        _ request: PipelineRequest,
        run: @escaping @Sendable (PipelineContext) async -> CallResult,
        then end: @escaping @Sendable (Result<PipelineResponse, any Error>) async -> Void
    ) -> Task<Void, Never>? {
        let depth = CallDepth.current + 1
        guard depth <= limits.nestedCallCount, request.body.isReplayable else { return nil }
        let child = makeChild()
        return call.settings.background.start(child.callID) {
            await CallDepth.$current.withValue(depth) {
                let result = await run(child).inMemory(child)
                await end(Result { try result.getPassedOn() })
                PerformedCall(result, of: child.call).finish(result)
            }
        }
    }
}

extension CallResult {
    /// The result with a body that is in memory, under the limit.
    fileprivate func inMemory(_ context: PipelineContext) async -> CallResult {
        guard case .success(let response) = self, response.needsBuffering(context) else { return self }
        do {
            return .success(try await response.buffered(context))
        } catch {
            return .failure(PipelineError(thrown: error, otherwise: .transport, "the body could not be read"))
        }
    }
}
