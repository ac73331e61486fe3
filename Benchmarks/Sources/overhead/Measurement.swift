/// The cost of one run of a case.
struct Cost: Codable {
    let name: String
    let nanoseconds: Double
    let allocations: Double
    /// The nanoseconds as a multiple of the first yardstick's.
    let yardsticks: Double
}

/// Measures all cases in turn, round after round, so that a slower machine affects all of them.
///
/// The times are medians.
@concurrent
func measure(_ cases: [Case], rounds: Int, iterations: Int) async throws -> [Cost] {
    var times = Array(repeating: [Double](), count: cases.count)
    var allocations = Array(repeating: Double.infinity, count: cases.count)
    for item in cases { try await item.run(iterations / 10 + 1) }
    for _ in 0..<rounds {
        for (index, item) in cases.enumerated() {
            let slice = try await item.measure(iterations)
            times[index].append(slice.nanoseconds)
            allocations[index] = min(allocations[index], slice.allocations)
        }
    }
    let medians = times.map(median)
    return cases.indices.map { index in
        Cost(
            name: cases[index].name,
            nanoseconds: medians[index],
            allocations: (allocations[index] * 10).rounded() / 10,
            yardsticks: medians[index] / medians[0]
        )
    }
}
