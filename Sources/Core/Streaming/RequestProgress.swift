/// The progress of a call in steps, the last of which has the response.
///
/// ```swift
/// for try await step in provider.requestWithProgress(.upload(video)) {
///     bar.progress = step.progress
///     if let response = step.response { show(response) }
/// }
/// ```
///
/// **Effects**: nothing is sent before the sequence is read, and each iteration sends the request anew. A slow reader
/// misses steps, but never the last. Leaving the loop cancels the call. At the top level of `main.swift`, put the loop
/// in a function, because Swift keeps the iterator of a loop there until the program ends.
///
/// **Errors**: ``PipelineError``; `CancellationError` if the reading task is cancelled, once the call has ended.
public struct RequestProgress: AsyncSequence, Sendable {
    /// A step in the progress of the call.
    public typealias Element = ProgressResponse

    let perform: @Sendable (ProgressMeter) async -> CallResult

    /// Starts the call and returns an iterator over its steps.
    public func makeAsyncIterator() -> AsyncIterator {
        let perform = perform
        let (steps, continuation) = AsyncThrowingStream<ProgressResponse, any Error>.makeStream(
            bufferingPolicy: .bufferingNewest(1)
        )
        let task = Task(executorPreference: SeparateTasks.executor) {
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

    /// An iterator that reads the progress step by step.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var steps: AsyncThrowingStream<ProgressResponse, any Error>.AsyncIterator
        private let call: Task<Void, Never>
        private var isCompleted = false

        init(steps: AsyncThrowingStream<ProgressResponse, any Error>.AsyncIterator, call: Task<Void, Never>) {
            self.steps = steps
            self.call = call
        }

        /// Returns the next step, or `nil` after the last.
        public mutating func next() async throws -> ProgressResponse? {
            guard !isCompleted else { return nil }
            isCompleted = true
            guard let step = try await steps.next(isolation: #isolation) else {
                // The stream ends without an error as soon as its reader is cancelled, but the call may still have
                // files to remove.
                await call.value
                throw CancellationError()
            }
            isCompleted = step.completed
            return step
        }
    }
}
