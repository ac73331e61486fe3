import Foundation

/// Something to measure: runs so many times.
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
    /// The first line written is a JSON array of the names. Each line `INDEX COUNT` that is read runs a case that many times and is answered
    /// by a line with the nanoseconds, the nanoseconds of processor time and the allocations of all of them.
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
