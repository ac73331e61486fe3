import CAllocations
import Foundation

/// What a side did in a slice of time.
struct Slice: Sendable {
    var count = 0
    var seconds = 0.0
    /// Of this process, not of the server.
    var processorSeconds = 0.0
    var allocationCount = 0.0

    var rate: Double { Double(count) / seconds }
    var processorMicroseconds: Double { processorSeconds * 1e6 / Double(count) }
    var allocations: Double { allocationCount / Double(count) }

    /// Sends over and over from so many tasks until the time is over.
    @concurrent
    static func measure(
        _ side: Side,
        _ byteCount: Int,
        inFlight: Int,
        for duration: Duration
    ) async throws -> Slice {
        var slice = Slice()
        let allocations = allocation_count()
        let processor = processorSeconds()
        let start = ContinuousClock.now
        let end = start + duration
        slice.count = try await withThrowingTaskGroup(of: Int.self) { tasks in
            for _ in 0..<inFlight {
                tasks.addTask {
                    var count = 0
                    repeat {
                        try await side.send(byteCount)
                        count += 1
                    } while ContinuousClock.now < end
                    return count
                }
            }
            return try await tasks.reduce(0, +)
        }
        slice.seconds = start.duration(to: .now) / .seconds(1)
        slice.processorSeconds = processorSeconds() - processor
        slice.allocationCount = Double(allocation_count() - allocations)
        return slice
    }

    private static func processorSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
