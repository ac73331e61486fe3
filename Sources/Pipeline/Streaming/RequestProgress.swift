/// The steps of a call, the last with its response.
///
/// ```swift
/// for try await step in provider.requestWithProgress(.upload(video)) {
///     bar.progress = step.progress
///     if let response = step.response { show(response) }
/// }
/// ```
///
/// **Effects**: nothing is sent before it is read, and each reading sends again. A reader that is slow misses steps, never the last.
/// Leaving the loop cancels the call. At the top level of `main.swift`, put the loop in a function, because Swift keeps the iterator of
/// a loop there until the program ends.
///
/// **Errors**: ``PipelineError``; `CancellationError` when the reading task is cancelled, once the call has ended.
public struct RequestProgress: AsyncSequence, Sendable {
    /// A step.
    public typealias Element = ProgressResponse

    let perform: @Sendable (ProgressMeter) async -> CallResult

    /// Starts the call.
    public func makeAsyncIterator() -> AsyncIterator {
        let perform = perform
        let (steps, continuation) = AsyncThrowingStream<ProgressResponse, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(1)
        )
        let task = Task {
            let meter = ProgressMeter { continuation.yield($0) }
            switch await perform(meter) {
            case .success(let response):
                continuation.yield(meter.end(with: response))
                continuation.finish()
            case .failure(let error):
                continuation.finish(throwing: error.asThrown)
            }
        }
        continuation.onTermination = { _ in task.cancel() }
        return AsyncIterator(steps: steps.makeAsyncIterator(), call: task)
    }

    /// Reads step by step.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var steps: AsyncThrowingStream<ProgressResponse, any Error>.AsyncIterator
        private let call: Task<Void, Never>
        private var isCompleted = false

        init(steps: AsyncThrowingStream<ProgressResponse, any Error>.AsyncIterator, call: Task<Void, Never>) {
            self.steps = steps
            self.call = call
        }

        /// The next step, `nil` after the last.
        public mutating func next() async throws -> ProgressResponse? {
            guard !isCompleted else { return nil }
            isCompleted = true
            guard let step = try await steps.next(isolation: #isolation) else {
                // A stream ends without an error as soon as its reader is cancelled; the call has files to remove before it ends.
                await call.value
                throw CancellationError()
            }
            isCompleted = step.completed
            return step
        }
    }
}
