import Foundation

/// Work to measure, run a given number of times.
struct Case: Sendable {
    let name: String
    let run: @Sendable (Int) async throws -> Void

    func measure(_ count: Int) async throws -> Slice {
        try await Slice.measure {
            try await run(count)
            return count
        }
    }

    /// Measures on request, for `scripts/compare-builds`, until standard input ends.
    ///
    /// The first output line is a JSON array of the names. Each input line `INDEX COUNT` runs a case COUNT times. Its
    /// output line contains the nanoseconds, the nanoseconds of processor time, and the allocations of all runs.
    static func serve(_ cases: [Case]) async throws {
        try write(String(decoding: JSONEncoder().encode(cases.map(\.name)), as: UTF8.self))
        while let line = readLine() {
            let numbers = line.split(separator: " ").compactMap { Int($0) }
            let slice = try await cases[numbers[0]].measure(numbers[1])
            try write("\(slice.seconds * 1e9) \(slice.processorSeconds * 1e9) \(slice.allocationCount)")
        }
    }

    private static func write(_ line: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }
}
