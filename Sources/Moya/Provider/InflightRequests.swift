import Foundation

/// The requests that are in progress, with the completions that wait for each.
// The lock guards the table.
final class InflightRequests: @unchecked Sendable {
    private let lock = NSLock()
    private var table: [Endpoint: [(id: Int, completion: Completion)]] = [:]
    private var count = 0

    var all: [Endpoint: [Completion]] { lock.withLock { table.mapValues { $0.map(\.completion) } } }

    /// Adds a completion and returns one that calls it and then removes it.
    func tracked(_ completion: @escaping Completion, of endpoint: Endpoint) -> Completion {
        let id = lock.withLock {
            count += 1
            table[endpoint, default: []].append((count, completion))
            return count
        }
        return { [self] result in
            completion(result)
            lock.withLock {
                table[endpoint]?.removeAll { $0.id == id }
                if table[endpoint]?.isEmpty == true { table[endpoint] = nil }
            }
        }
    }
}
