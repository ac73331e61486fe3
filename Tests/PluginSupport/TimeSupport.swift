import Foundation
import Pipeline
import PipelineTesting
import Synchronization

/// A log of events, in order.
final class TimeJournal: Sendable {
    private let lines = Mutex<[String]>([])

    var entries: [String] { lines.withLock { $0 } }

    func add(_ line: String) {
        lines.withLock { $0.append(line) }
    }
}

/// Bytes that arrive one by one, each after a delay on a clock; the sequence then ends or stalls.
struct SlowBytes: AsyncSequence, Sendable {
    var count: Int
    var every: Duration
    var clock: ManualClock
    var hangs = false
    /// Called when the last byte has been read.
    var onEnd: @Sendable () -> Void = {}
    /// Called when the reader is released, which is when a transport closes its exchange.
    var onClose: @Sendable () -> Void = {}

    func makeAsyncIterator() -> Iterator { Iterator(bytes: self, lease: Lease(onClose)) }

    final class Lease: Sendable {
        private let onClose: @Sendable () -> Void

        init(_ onClose: @escaping @Sendable () -> Void) { self.onClose = onClose }

        deinit { onClose() }
    }

    struct Iterator: AsyncIteratorProtocol {
        var bytes: SlowBytes
        let lease: Lease

        mutating func next() async throws -> Data? {
            if bytes.count == 0 {
                bytes.onEnd()
                // Ends without an error when the task is cancelled, as every AsyncStream does.
                let never = AsyncStream<Never> { _ in }
                if bytes.hangs { for await _ in never {} }
                return nil
            }
            bytes.count -= 1
            if bytes.every > .zero { try await bytes.clock.sleep(for: bytes.every) }
            return Data([7])
        }
    }
}

extension Task where Failure == any Error {
    /// The error with which the call failed; `nil` if it succeeded or was cancelled.
    var pipelineError: PipelineError? {
        get async {
            guard case .failure(let error) = await result else { return nil }
            return error as? PipelineError
        }
    }
}

extension PluginType where Self == PluginStack {
    /// Makes at most `count` attempts with a wait between, whatever fails; stops if a wait would reach the deadline.
    static func sendingAgain(_ count: Int, after wait: Duration = .zero, name: String = "again") -> PluginStack {
        .intercept(name: name) { request, context, next in
            for _ in 1..<count {
                do {
                    let response = try await next(request)
                    if response.statusCode < 500 { return response }
                } catch let error as PipelineError {
                    if let deadline = context.deadline, context.clock.now.advanced(by: wait) >= deadline { throw error }
                }
                if wait > .zero { try await context.clock.sleep(for: wait) }
            }
            return try await next(request)
        }
    }
}
