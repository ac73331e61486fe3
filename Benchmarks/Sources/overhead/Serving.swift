import Foundation
import PipelineAllocations
import PipelineTesting

typealias Case = PipelineBenchmark.Case

extension Overhead {
    /// Measures on request, for `scripts/compare-builds`, until standard input ends.
    ///
    /// The first output line is a JSON array of the names. Each input line `INDEX COUNT` runs a case COUNT times. Its
    /// output line contains the nanoseconds, the nanoseconds of processor time, and the allocations of all runs.
    static func serve(_ cases: [Case]) async throws {
        try write(String(decoding: JSONEncoder().encode(cases.map(\.name)), as: UTF8.self))
        while let line = readLine() {
            let numbers = line.split(separator: " ").compactMap { Int($0) }
            let processor = processorNanoseconds()
            let slice = try await cases[numbers[0]].measure(numbers[1], allocations: .process)
            let allocationCount = slice.allocationCount ?? 0
            try write("\(slice.nanoseconds) \(processorNanoseconds() - processor) \(allocationCount)")
        }
    }

    private static func processorNanoseconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    private static func write(_ line: String) throws {
        try FileHandle.standardOutput.write(contentsOf: Data((line + "\n").utf8))
    }
}

/// Keeps the optimizer from removing the measured work.
///
/// A function of another module is not specialized, which the shortest cases would notice.
@inline(never)
func consume<Value>(_ value: Value) {
    withExtendedLifetime(value) {}
}
