#if canImport(Combine) || OpenCombine
import PipelineCore
import Synchronization

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// A publisher that makes one call per subscription, when the subscriber first requests a value.
struct CallPublisher<Output: Sendable>: Publisher {
    typealias Failure = PipelineError

    /// Receives the values and the end of a call.
    struct Receiver: Sendable {
        let send: @Sendable (Output) -> Void
        let finish: @Sendable (PipelineError?) -> Void
    }

    /// Starts a call and returns a closure that cancels it.
    typealias Start = @Sendable (Receiver) -> @Sendable () -> Void

    let executor: (any TaskExecutor)?
    let start: Start

    func receive<Downstream: Subscriber>(subscriber: Downstream)
    where Downstream.Input == Output, Downstream.Failure == PipelineError {
        subscriber.receive(subscription: CallSubscription(AnySubscriber(subscriber), executor, start))
    }
}

/// One call on behalf of one subscriber.
///
/// It publishes no more values than were requested. Of the values that were not requested, it keeps the last one; for a
/// call with progress, that is the one with the response. A failure is published without waiting for demand.
final class CallSubscription<Output: Sendable>: Subscription, Sendable {
    // Guarded by the state: only the thread that set `isPublishing`, or that took this value out, calls the subscriber.
    private struct Downstream: @unchecked Sendable {
        let subscriber: AnySubscriber<Output, PipelineError>
    }

    private enum Step {
        case value(Downstream, Output)
        case end(Downstream, PipelineError?)
    }

    private struct State {
        /// `nil` once the subscription was cancelled or has ended.
        var downstream: Downstream?
        /// `nil` once the call was started.
        var start: CallPublisher<Output>.Start?
        var cancelCall: (@Sendable () -> Void)?
        /// The number of values that may still be published; `Int.max` if the demand is unlimited.
        var demand = 0
        var waiting: Output?
        var isFinished = false
        var failure: PipelineError?
        var isPublishing = false

        mutating func add(_ more: Int) {
            let (sum, overflows) = demand.addingReportingOverflow(more)
            demand = overflows ? .max : sum
        }

        mutating func nextStep() -> Step? {
            guard !isPublishing, let downstream else { return nil }
            if let output = waiting, demand > 0 {
                waiting = nil
                demand -= 1
                isPublishing = true
                return .value(downstream, output)
            }
            guard isFinished, waiting == nil || failure != nil else { return nil }
            self.downstream = nil
            cancelCall = nil
            return .end(downstream, failure)
        }
    }

    private let state: Mutex<State>
    private let executor: (any TaskExecutor)?

    init(
        _ subscriber: AnySubscriber<Output, PipelineError>,
        _ executor: (any TaskExecutor)?,
        _ start: @escaping CallPublisher<Output>.Start
    ) {
        self.executor = executor
        state = Mutex(State(downstream: Downstream(subscriber: subscriber), start: start))
    }

    func request(_ demand: Subscribers.Demand) {
        let count = demand.max ?? .max
        guard count > 0 else { return }
        let start = state.withLock { state in
            state.add(count)
            return state.start.take()
        }
        if let start {
            begin(start)
        } else if let executor {
            Task(executorPreference: executor) { self.publish() }
        } else {
            publish()
        }
    }

    func cancel() {
        let (downstream, start, cancelCall) = state.withLock { state in
            (state.downstream.take(), state.start.take(), state.cancelCall.take())
        }
        cancelCall?()
        // Releasing them may run other code, so it happens only after the lock.
        withExtendedLifetime((downstream, start)) {}
    }

    private func begin(_ start: CallPublisher<Output>.Start) {
        let cancelCall = start(
            CallPublisher.Receiver(
                send: { output in
                    self.state.withLock { $0.waiting = output }
                    self.publish()
                },
                finish: { failure in
                    self.state.withLock { state in
                        state.isFinished = true
                        state.failure = failure
                    }
                    self.publish()
                }
            )
        )
        let isOver = state.withLock { state in
            guard state.downstream != nil else { return true }
            state.cancelCall = cancelCall
            return false
        }
        if isOver { cancelCall() }
    }

    private func publish() {
        while let step = state.withLock({ $0.nextStep() }) {
            switch step {
            case .value(let downstream, let output):
                let more = downstream.subscriber.receive(output)
                state.withLock { state in
                    state.isPublishing = false
                    state.add(more.max ?? .max)
                }
            case .end(let downstream, let failure):
                downstream.subscriber.receive(completion: failure.map { .failure($0) } ?? .finished)
            }
        }
    }
}
#endif
