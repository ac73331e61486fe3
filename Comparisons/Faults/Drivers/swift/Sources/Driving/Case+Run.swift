import Foundation

/// The results of a case, as a line of standard output has them.
package struct Line: Encodable, Sendable {
    var results: [Result]
    var `case`: String?

    /// Returns the line with the name of its case and without times, for a test that may be slow.
    package func untimed(of example: Case) -> Line {
        var line = self
        for index in results.indices { line.results[index].ms = 0 }
        line.case = example.id
        return line
    }
}

extension Case {
    /// Makes the calls of the case, or one call to a port on which nothing listens.
    ///
    /// Closes the client without waiting for it, because no case is about that.
    package func run(with client: any Client) async throws -> Line {
        var results: [Result] = []
        if steps.isEmpty { _ = await Self.perform(Call(url: "http://127.0.0.1:1/", deadline: 1000), client) }
        for step in steps {
            try await Task.sleep(for: .milliseconds(step.compactMap(\.wait).max() ?? 0))
            results += await withTaskGroup { group in
                for (index, call) in step.enumerated() { group.addTask { (index, await Self.perform(call, client)) } }
                return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
            }
        }
        Task { await client.close() }
        return Line(results: results)
    }

    private static func perform(_ call: Call, _ client: any Client) async -> Result {
        let begin = ContinuousClock.now
        let task = Task { try await client.perform(call) }
        if let cancel = call.cancel {
            Task {
                try await Task.sleep(for: .milliseconds(cancel))
                task.cancel()
            }
        }
        let outcome = await task.result
        return Result(outcome, milliseconds: Int((ContinuousClock.now - begin) / .milliseconds(1)))
    }
}

/// Runs the work and cancels it after a number of milliseconds; its cancellation is not an error.
package func cancelling(after milliseconds: Int, _ work: @escaping @Sendable () async throws -> Void) async throws {
    let task = Task { try await work() }
    let timer = Task {
        try await Task.sleep(for: .milliseconds(milliseconds))
        task.cancel()
    }
    defer { timer.cancel() }
    do {
        try await task.value
    } catch is CancellationError {}
}
