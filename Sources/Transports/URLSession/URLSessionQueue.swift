#if canImport(FoundationNetworking)
import Dispatch
import Foundation

/// A serial queue that runs the callbacks of a session.
///
/// Foundation on Linux adds only blocks to a delegate queue. `OperationQueue` wraps each block in an operation, which
/// costs 13 more allocations per callback.
// The superclass is Sendable, and the only property added is a dispatch queue that never changes.
final class URLSessionQueue: OperationQueue, @unchecked Sendable {
    private let queue = DispatchQueue(label: "URLSessionTransport")

    override func addOperation(_ block: @escaping @Sendable () -> Void) { queue.async(execute: block) }

    /// Keeps the order for operations too, although Foundation adds none today.
    override func addOperation(_ operation: Operation) { queue.async { operation.start() } }
}
#endif
