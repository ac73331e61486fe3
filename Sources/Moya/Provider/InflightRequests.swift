import Foundation

/// The requests that are in progress, with the completions that wait for each.
// The lock guards the table.
final class InflightRequests: @unchecked Sendable {
    private let lock = NSLock()
    private var table: [Endpoint: [Completion]] = [:]

    var all: [Endpoint: [Completion]] { lock.withLock { table } }

    /// Adds a completion and returns whether its request is the first one.
    func add(_ endpoint: Endpoint, _ completion: @escaping Completion) -> Bool {
        lock.withLock {
            table[endpoint, default: []].append(completion)
            return table[endpoint]?.count == 1
        }
    }

    /// Calls all completions in order, including those that join meanwhile, and removes the request.
    func complete(_ endpoint: Endpoint, with result: Result<Response, MoyaError>) {
        var count = 0
        while true {
            let waiting = lock.withLock {
                let waiting = Array((table[endpoint] ?? []).dropFirst(count))
                if waiting.isEmpty { table[endpoint] = nil }
                return waiting
            }
            if waiting.isEmpty { return }
            count += waiting.count
            for completion in waiting { completion(result) }
        }
    }
}
