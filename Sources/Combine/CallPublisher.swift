#if canImport(Combine) || OpenCombine
import PipelineCore

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
#endif
