import PipelineCore
import Synchronization

/// The circuits of a plugin and its copies.
final class Circuits: Sendable {
    let changes = CircuitChanges()

    private let rules: CircuitRules
    private let map = PartitionMap<SharedCircuit>()
    /// Whether a circuit that is made begins isolated.
    private let isIsolated = Atomic(false)

    init(_ rules: CircuitRules) {
        self.rules = rules
    }

    func circuit(
        of key: TrafficKey,
        on clock: PipelineClock = PipelineClock(ContinuousClock()),
        random: PipelineRandom = .system
    ) -> SharedCircuit {
        map.object(for: key, on: clock) {
            let circuit = Circuit(rules, isIsolated: isIsolated.load(ordering: .acquiring), random: random)
            return SharedCircuit(circuit, name: key.shownName, changes: changes)
        }
    }

    func state(of key: TrafficKey) -> CircuitState {
        map[key]?.current ?? (isIsolated.load(ordering: .acquiring) ? .isolated : .closed)
    }

    /// Isolates or resets all circuits.
    func changeAll(isIsolated: Bool) {
        // First, so that no circuit made meanwhile begins closed.
        self.isIsolated.store(isIsolated, ordering: .releasing)
        for (_, circuit) in map.all { circuit.change(isIsolated: isIsolated) }
    }

    func health(on clock: PipelineClock) -> PluginHealth {
        var details: [String: String] = [:]
        var gauges: [String: [PluginHealth.Gauge: Double]] = [:]
        var unnamedCount = 0
        let all = map.all
        var refusingCount = 0
        for (_, circuit) in all {
            let status = circuit.status(on: clock)
            if let name = circuit.name { gauges[name] = status.gauges }
            guard status.state != .closed else { continue }
            if status.refusesAll { refusingCount += 1 }
            if let name = circuit.name {
                let rest = status.remainingBreak.map { rest in
                    rest > .zero ? ", next probe in \(PipelineError.text(of: rest))" : ", next request is a probe"
                }
                details[name] = status.state.rawValue + (rest ?? "")
            } else {
                unnamedCount += 1
            }
        }
        if unnamedCount > 0 { details["custom partitions"] = "\(unnamedCount) not closed" }
        let refusesAll = all.isEmpty ? isIsolated.load(ordering: .acquiring) : refusingCount == all.count
        let status: PluginHealth.Status = refusesAll ? .unhealthy : details.isEmpty ? .healthy : .degraded
        return PluginHealth(status, details: details, gauges: gauges)
    }
}
