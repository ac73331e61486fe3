import PipelineCore
import Synchronization

/// The circuit of one partition, which calls use concurrently.
final class SharedCircuit: PartitionObject {
    private struct State {
        var circuit: Circuit
        /// The clock of the first call that needed the time, and the moment from which the circuit counts.
        var clock: PipelineClock?
        var origin: PipelineClock.Instant?
        /// The latest failure that was counted.
        var cause: PipelineError.RefusalCause?
        /// What to call when the circuit opens, by number.
        var watches: [Int: @Sendable () -> Void] = [:]
        var watchCount = 0
    }

    /// What reports call the partition; `nil` if its key may be a secret.
    let name: String?

    private let state: Mutex<State>
    /// The generation of a closed circuit, which admits calls without the lock; -1 in any other state.
    private let closedGeneration: Atomic<Int>
    private let changes: CircuitChanges

    init(_ circuit: Circuit, name: String?, changes: CircuitChanges) {
        state = Mutex(State(circuit: circuit))
        closedGeneration = Atomic(circuit.closedPermit?.generation ?? -1)
        self.name = name
        self.changes = changes
    }

    func isIdle(at now: PipelineClock.Instant) -> Bool {
        state.withLock { $0.circuit.isIdle(at: $0.origin?.duration(to: now) ?? .zero) }
    }

    /// Whether the circuit is closed, with or without failures.
    var isPermissive: Bool { current == .closed }

    /// The latest failure that was counted; `nil` before the first.
    var cause: PipelineError.RefusalCause? { state.withLock { $0.cause } }

    var current: CircuitState { state.withLock { $0.circuit.state } }

    /// Whether the circuit is open or isolated.
    var refuses: Bool { [.open, .isolated].contains(current) }

    /// What a report says about a circuit.
    struct Status {
        let state: CircuitState
        /// The rest of the break of an open circuit.
        let remainingBreak: Duration?
        let failureRatio: Double

        /// Whether it refuses every request.
        var refusesAll: Bool { state == .isolated || remainingBreak.map { $0 > .zero } == true }

        /// The figures for a report, which call a circuit half-open as soon as its break is over.
        var gauges: [PluginHealth.Gauge: Double] {
            [.openness: refusesAll ? 1 : state == .closed ? 0 : 0.5, .failureRatio: failureRatio]
        }
    }

    func status(on clock: PipelineClock) -> Status {
        let now = clock.now
        return state.withLock { state in
            let offset = state.origin.map { $0.duration(to: now) } ?? .zero
            return Status(
                state: state.circuit.state,
                remainingBreak: state.circuit.remainingBreak(at: offset),
                failureRatio: state.circuit.failureRatio(at: offset)
            )
        }
    }

    /// Decides whether a request passes.
    func admit(on clock: PipelineClock) -> Circuit.Admission {
        let generation = closedGeneration.load(ordering: .acquiring)
        guard generation < 0 else { return .passes(Circuit.Permit(generation: generation, isProbe: false)) }
        return change(on: clock) { $0.circuit.admit(at: $1) }
    }

    /// Records that the head of a response to a probe has arrived; returns whether the probe still counts.
    func noteHead(_ permit: Circuit.Permit) -> Bool {
        permit.isProbe && state.withLock { $0.circuit.noteHead(permit) }
    }

    /// Ends a permit; returns the new state if that has changed it.
    func end(
        _ permit: Circuit.Permit,
        _ ending: Circuit.Ending,
        hadHead: Bool,
        cause: PipelineError.RefusalCause?,
        on clock: PipelineClock
    ) -> CircuitState? {
        if ending == .ignored, !permit.isProbe { return nil }
        return change(on: clock) { state, now in
            let old = state.circuit.generation
            // A failure that no longer counts is behind no refusal.
            if ending == .failure, permit.generation == old, let cause { state.cause = cause }
            state.circuit.end(permit, ending, hadHead: hadHead, at: now)
            return state.circuit.generation == old ? nil : state.circuit.state
        }
    }

    /// Isolates or resets the circuit.
    func change(isIsolated: Bool) {
        change { state, _ in if isIsolated { state.circuit.isolate() } else { state.circuit.reset() } }
    }

    /// Changes the circuit at the present moment, on the clock of a call or of the first call.
    private func change<Output>(
        on clock: PipelineClock? = nil,
        _ body: (inout State, Duration) -> Output
    ) -> Output {
        // Read outside the lock, because the clock may be a caller's code.
        let clock = clock ?? state.withLock { $0.clock }
        let now = clock?.now
        let (output, watches) = state.withLock { state in
            if state.origin == nil { (state.origin, state.clock) = (now, clock) }
            var offset = Duration.zero
            if let origin = state.origin, let now { offset = origin.duration(to: now) }
            let output = body(&state, offset)
            return (output, note(&state, at: now))
        }
        report(watches)
        return output
    }

    /// Delivers the changes, and lets those know who wait in a line.
    private func report(_ watches: [@Sendable () -> Void]?) {
        guard let watches else { return }
        changes.deliver()
        for watch in watches { watch() }
    }

    /// Notes what has changed; returns whom it concerns, `nil` if nothing has changed.
    ///
    /// Runs under the lock, so that the changes of a circuit remain in order.
    private func note(_ state: inout State, at moment: PipelineClock.Instant?) -> [@Sendable () -> Void]? {
        closedGeneration.store(state.circuit.closedPermit?.generation ?? -1, ordering: .releasing)
        guard !state.circuit.changes.isEmpty else { return nil }
        let all = state.circuit.takeChanges()
        changes.add(
            all.map { change in
                CircuitBreakerPlugin.StateChange(
                    partition: name,
                    oldState: change.old,
                    newState: change.new,
                    moment: moment
                )
            }
        )
        guard all.contains(where: { $0.new == .open || $0.new == .isolated }) else { return [] }
        defer { state.watches = [:] }
        return state.watches.sorted { $0.key < $1.key }.map(\.value)
    }
}

// MARK: Requests that wait inside

extension SharedCircuit {
    /// The circuit that has let the request of the current task pass, which may wait in a queue inside and has not been
    /// sent yet; `nil` without a circuit breaker.
    @TaskLocal static var passed: SharedCircuit?

    /// Calls a closure once if the circuit refuses requests, or as soon as it does.
    ///
    /// - Returns: a number for ``endWatch(_:)``.
    func watch(_ opened: @escaping @Sendable () -> Void) -> Int? {
        let number = state.withLock { state -> Int? in
            guard ![.open, .isolated].contains(state.circuit.state) else { return nil }
            state.watchCount += 1
            state.watches[state.watchCount] = opened
            return state.watchCount
        }
        if number == nil { opened() }
        return number
    }

    func endWatch(_ number: Int?) {
        guard let number else { return }
        state.withLock { state in _ = state.watches.removeValue(forKey: number) }
    }

    /// Sleeps until a moment, or until the circuit opens that has let the request of the current task pass.
    ///
    /// - Throws: ``CircuitHasOpened`` in the latter case, and `CancellationError`.
    static func sleep(until moment: PipelineClock.Instant, on clock: PipelineClock) async throws {
        guard let passed else { return try await clock.sleep(until: moment) }
        let (openings, continuation) = AsyncStream<Never>.makeStream()
        let watch = passed.watch { continuation.finish() }
        defer { passed.endWatch(watch) }
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
    static func checkPassed() throws {
        if passed?.refuses == true { throw CircuitHasOpened() }
    }
}

/// The circuit of a request that waits in a queue has opened; the plugin that has let it pass refuses it.
struct CircuitHasOpened: Error {}
