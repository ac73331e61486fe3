import Pipeline
import Synchronization

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// A subscriber that demands values as the test directs and records what it receives.
final class Probe<Input: Sendable>: Subscriber {
    typealias Failure = PipelineError

    /// The events received so far.
    struct Notes {
        var values: [Input] = []
        var endCount = 0
        var failure: PipelineError?
    }

    private(set) var notes = Notes()
    private var subscription: (any Subscription)?
    /// The demand returned for each value.
    private let demandPerValue: Subscribers.Demand
    /// Runs for each value received.
    private let react: (Probe, Input) -> Void

    init(demandPerValue: Subscribers.Demand = .none, react: @escaping (Probe, Input) -> Void = { _, _ in }) {
        self.demandPerValue = demandPerValue
        self.react = react
    }

    func receive(subscription: any Subscription) {
        self.subscription = subscription
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        notes.values.append(input)
        react(self, input)
        return demandPerValue
    }

    func receive(completion: Subscribers.Completion<PipelineError>) {
        notes.endCount += 1
        if case .failure(let error) = completion { notes.failure = error }
    }

    func request(_ demand: Subscribers.Demand) {
        subscription?.request(demand)
    }

    func cancel() {
        subscription?.cancel()
    }
}
