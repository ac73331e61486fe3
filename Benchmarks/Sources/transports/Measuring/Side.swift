/// One way to send a request.
struct Side: Sendable {
    struct WrongAnswer: Error {}

    let name: String
    /// Sends a request for a page and checks that all of it arrived.
    ///
    /// Concurrent tasks have different numbers and therefore different URLs.
    let send: @Sendable (_ byteCount: Int, _ task: Int) async throws -> Void

    static func require(_ isRight: Bool) throws {
        guard isRight else { throw WrongAnswer() }
    }

    /// Sends requests repeatedly from `inFlight` tasks until the time is over.
    func measure(_ byteCount: Int, inFlight: Int, for duration: Duration) async throws -> Slice {
        try await Slice.measure {
            let end = ContinuousClock.now + duration
            return try await withThrowingTaskGroup(of: Int.self) { tasks in
                for task in 0..<inFlight {
                    tasks.addTask {
                        var count = 0
                        repeat {
                            try await send(byteCount, task)
                            count += 1
                        } while ContinuousClock.now < end
                        return count
                    }
                }
                return try await tasks.reduce(0, +)
            }
        }
    }

    /// Sends `count` requests from `inFlight` tasks.
    func send(_ byteCount: Int, inFlight: Int, count: Int) async throws {
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for task in 0..<inFlight {
                tasks.addTask {
                    for _ in stride(from: task, to: count, by: inFlight) { try await send(byteCount, task) }
                }
            }
            try await tasks.waitForAll()
        }
    }
}

/// Sides that send the same requests.
///
/// The first one calls a client directly.
struct Contest: Sendable {
    let name: String
    let sides: [Side]
}
