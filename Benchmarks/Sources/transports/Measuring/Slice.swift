import Foundation
import Pipeline
import PipelineAllocations

/// The measurements of some work during a slice of time.
struct Slice: Sendable {
    var count = 0
    var seconds = 0.0
    /// The processor time of this process, not of a server.
    var processorSeconds = 0.0
    var allocationCount = 0.0

    var rate: Double { Double(count) / seconds }
    var nanoseconds: Double { seconds * 1e9 / Double(count) }
    var processorMicroseconds: Double { processorSeconds * 1e6 / Double(count) }
    var allocations: Double { allocationCount / Double(count) }

    /// Measures work that returns how many times it ran.
    @concurrent
    static func measure(_ work: @Sendable () async throws -> Int) async throws -> Slice {
        var slice = Slice()
        let allocations = PipelineAnalysis.AllocationCounter.process?.read().count ?? 0
        let processor = processorSeconds()
        let start = ContinuousClock.now
        slice.count = try await work()
        slice.seconds = start.duration(to: .now) / .seconds(1)
        slice.processorSeconds = processorSeconds() - processor
        slice.allocationCount = Double((PipelineAnalysis.AllocationCounter.process?.read().count ?? 0) - allocations)
        return slice
    }

    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

/// Keeps the optimizer from removing the measured work.
@inline(never)
func consume<Value>(_ value: Value) {
    withExtendedLifetime(value) {}
}
