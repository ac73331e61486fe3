import PipelineCore

/// The permit of a request that has passed a circuit and has not been sent yet, because it may wait in a line inside.
struct CircuitPass: Sendable {
    /// The pass of the request that the current task sends; `nil` without a circuit breaker.
    @TaskLocal static var current: CircuitPass?

    let circuit: SharedCircuit

    /// Calls a closure once if the circuit is open, or opens before the watch ends.
    func watch(_ opened: @escaping @Sendable () -> Void) -> Watch {
        let watch = Watch(circuit: circuit, number: circuit.add(opened))
        if watch.number == nil { opened() }
        return watch
    }

    /// Sleeps until a moment, or until the circuit opens that has let the request of the current task pass.
    ///
    /// - Throws: ``CircuitHasOpened`` in the latter case, and `CancellationError`.
    static func sleep(until moment: PipelineClock.Instant, on clock: PipelineClock) async throws {
        guard let current else { return try await clock.sleep(until: moment) }
        let (openings, continuation) = AsyncStream<Never>.makeStream()
        let watch = current.watch { continuation.finish() }
        defer { watch.end() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await clock.sleep(until: moment) }
            group.addTask {
                for await _ in openings {}
                try Task.checkCancellation()
                throw CircuitHasOpened()
            }
            try await group.next()
        }
    }

    /// Throws if the circuit no longer lets the request of the current task pass.
    static func check() throws {
        if current?.circuit.refuses == true { throw CircuitHasOpened() }
    }

    /// The registration of a closure.
    struct Watch {
        fileprivate let circuit: SharedCircuit
        fileprivate let number: Int?

        func end() {
            if let number { circuit.removeWatch(number) }
        }
    }
}

/// The circuit of a request that waits in a line has opened; the plugin that has let it pass refuses it.
struct CircuitHasOpened: Error {}
