import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineCore

@Suite("TransferRate", .watched)
struct TransferRateTests {
    private let start = PipelineClock(ManualClock()).now

    /// Returns the rate after each count; times are in milliseconds.
    private func speeds(_ counts: [(at: Int, byteCount: Int)]) -> [Double?] {
        var rate = TransferRate()
        return counts.map { count in
            rate.add(count.byteCount, at: start.advanced(by: .milliseconds(count.at)))
            return rate.bytesPerSecond
        }
    }

    @Test("The rate is nil until half a second after the first bytes, which do not count")
    func beginning() {
        #expect(speeds([(0, 1_000), (499, 2_000), (500, 2_500), (1_000, 3_000)]) == [nil, nil, 3_000, 2_000])
    }

    @Test("Bytes older than 5 seconds do not count")
    func window() {
        let fast = (0...5).map { (at: $0 * 1_000, byteCount: $0 * 10_000) }
        let slow = (6...11).map { (at: $0 * 1_000, byteCount: 50_000 + ($0 - 5) * 100) }
        let speeds = speeds(fast + slow)
        #expect(speeds[5] == 10_000)
        #expect(speeds[6] == 8_020)
        #expect(speeds[10] == 100)
        #expect(speeds[11] == 100)
    }

    @Test("After a longer pause, the rate is the mean over the pause")
    func pause() {
        #expect(speeds([(0, 0), (1_000, 1_000), (21_000, 3_000)]) == [nil, 1_000, 100])
    }

    @Test("The rate is zero if the byte count decreases")
    func backwards() {
        #expect(speeds([(0, 1_000), (1_000, 500)]) == [nil, 0])
    }
}
