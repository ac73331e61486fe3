import Pipeline

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

/// Everything that a publisher publishes until it ends.
struct Outcome<Value: Sendable>: Sendable {
    var values: [Value] = []
    var failure: PipelineError?

    /// Subscribes and waits for the end.
    static func of(_ publisher: some Publisher<Value, PipelineError>) async -> Outcome {
        let events = AsyncStream.makeStream(of: Result<Value, PipelineError>.self)
        let subscription = publisher.sink { completion in
            if case .failure(let error) = completion { events.continuation.yield(.failure(error)) }
            events.continuation.finish()
        } receiveValue: { value in
            events.continuation.yield(.success(value))
        }
        var outcome = Outcome()
        for await event in events.stream {
            switch event {
            case .success(let value): outcome.values.append(value)
            case .failure(let error): outcome.failure = error
            }
        }
        withExtendedLifetime(subscription) {}
        return outcome
    }
}
