import CAllocations

/// Something to measure: runs so many times.
struct Case: Sendable {
    let name: String
    let run: @Sendable (Int) async throws -> Void
}

/// What a case costs each time.
struct Cost: Codable {
    let name: String
    let nanoseconds: Double
    let allocations: Double
    /// Nanoseconds as a multiple of the first yardstick's.
    let yardsticks: Double
}

/// Measures all cases in turn, round after round, so that a machine that slows down slows all of them; takes medians.
@concurrent
func measure(_ cases: [Case], rounds: Int, iterations: Int) async throws -> [Cost] {
    let clock = ContinuousClock()
    var times = Array(repeating: [Double](), count: cases.count)
    var allocations = Array(repeating: Double.infinity, count: cases.count)
    for item in cases { try await item.run(iterations / 10 + 1) }
    for _ in 0..<rounds {
        for (index, item) in cases.enumerated() {
            let before = allocation_count()
            let start = clock.now
            try await item.run(iterations)
            let duration = start.duration(to: clock.now)
            let nanoseconds = Double(duration.components.attoseconds) / 1e9 + Double(duration.components.seconds) * 1e9
            times[index].append(nanoseconds / Double(iterations))
            allocations[index] = min(allocations[index], Double(allocation_count() - before) / Double(iterations))
        }
    }
    let medians = times.map { $0.sorted()[$0.count / 2] }
    return cases.indices.map { index in
        Cost(
            name: cases[index].name,
            nanoseconds: medians[index],
            allocations: (allocations[index] * 10).rounded() / 10,
            yardsticks: medians[index] / medians[0]
        )
    }
}

/// Keeps the optimizer from removing what is measured.
@inline(never)
func consume<Value>(_ value: Value) {
    withExtendedLifetime(value) {}
}
