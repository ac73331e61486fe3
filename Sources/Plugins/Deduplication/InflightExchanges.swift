import Pipeline
import Synchronization

/// The exchanges of a plugin that are in flight, and the calls that wait for them.
final class InflightExchanges: Sendable {
    /// What a call comes to.
    enum Outcome: Sendable {
        /// The exchange has ended.
        case ended(Result<PipelineResponse, any Error>, isJoined: Bool)
        /// The call has left.
        case cancelled
        /// The call has to have an exchange of its own.
        case refused
    }

    private typealias Waiter = CheckedContinuation<Outcome, Never>

    /// Whether this code runs within a shared exchange.
    ///
    /// A call made there never waits for one: two could wait for each other.
    @TaskLocal static var isInside = false

    private let table: Mutex<InflightTable<InflightKey, Waiter, Task<Void, Never>>>
    private let lastCaller = Atomic(0)

    init(maximumCallerCount: Int, maximumExchangeCount: Int) {
        table = Mutex(
            InflightTable(maximumCallerCount: maximumCallerCount, maximumExchangeCount: maximumExchangeCount)
        )
    }

    var exchangeCount: Int { table.withLock { $0.exchangeCount } }

    var callerCount: Int { table.withLock { $0.callerCount } }

    /// Lets nobody join the exchanges that are in flight now.
    func close() {
        table.withLock { $0.close() }
    }

    /// Waits for the exchange of this key, and begins it when there is none.
    func outcome(
        for key: InflightKey,
        _ request: PipelineRequest,
        _ context: PipelineContext,
        _ next: Next
    ) async -> Outcome {
        let caller = lastCaller.add(1, ordering: .relaxed).newValue
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                switch table.withLock({ $0.arrive(caller, for: key, waiter) }) {
                case .lead: lead(caller, request, context, next)
                case .join: break
                case .refused: waiter.resume(returning: .refused)
                }
                // The handler below may have run before the arrival.
                if Task.isCancelled { leave(caller) }
            }
        } onCancel: {
            leave(caller)
        }
    }

    /// Begins the work before the call that leads it can return: afterwards `next` would be closed.
    private func lead(_ caller: Int, _ request: PipelineRequest, _ context: PipelineContext, _ next: Next) {
        let limit = context.limits.bufferedBodyByteCount
        let work = Self.$isInside.withValue(true) {
            next.start(request) { result in
                self.finish(caller, await Self.buffered(result, upTo: limit))
            }
        }
        if !table.withLock({ $0.attach(work, to: caller) }) { work.cancel() }
    }

    private func leave(_ caller: Int) {
        guard let departure = table.withLock({ $0.leave(caller) }) else { return }
        departure.waiter.resume(returning: .cancelled)
        departure.abandoned?.cancel()
    }

    private func finish(_ exchange: Int, _ result: Result<PipelineResponse, any Error>) {
        for (caller, waiter) in table.withLock({ $0.finish(exchange) }) {
            waiter.resume(returning: .ended(result, isJoined: caller != exchange))
        }
    }

    /// The result with a body that can be read by many: a plugin inside may have made it a stream.
    private static func buffered(
        _ result: Result<PipelineResponse, any Error>,
        upTo limit: Int
    ) async -> Result<PipelineResponse, any Error> {
        guard case .success(var response) = result, response.body.bytes == nil else { return result }
        do {
            response.body = .bytes(try await response.body.collect(upTo: limit))
            return .success(response)
        } catch {
            return .failure(error)
        }
    }
}
