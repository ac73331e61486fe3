import Foundation

/// Up to four threads for blocking calls, so that they occupy neither the cooperative pool nor the store's own thread.
public final class BlockingPool: Sendable {
    private let queue = OperationQueue()

    /// Creates a pool whose threads have a label.
    public init(label: String) {
        queue.name = label
        queue.maxConcurrentOperationCount = 4
    }

    /// Runs a closure on a thread of the pool; completes even if the task is cancelled.
    public func run<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
            queue.addOperation {
                do throws(Failure) {
                    continuation.resume(returning: .success(try work()))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        return try result.get()
    }

    /// Runs a closure on a thread of the pool some time later.
    public func start(_ work: @escaping @Sendable () -> Void) { queue.addOperation(work) }
}
