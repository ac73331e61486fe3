import PipelinePlugins
import TestSupport
import Testing

@testable import PipelineResilience

@Suite("Percentiles of latencies", .watched)
struct LatencyWindowTests {
    @Test("There is no percentile before 20 latencies")
    func few() {
        var window = LatencyWindow()
        for _ in 1...19 { window.add(.milliseconds(1)) }
        #expect(window.percentile(0.9) == nil)
        window.add(.milliseconds(1))
        #expect(window.percentile(0.9) == .milliseconds(1))
    }

    @Test(
        "A percentile of n values is the one of rank p * (n + 1), rounded up, at most the largest",
        arguments: [(0.5, 50), (0.95, 95), (0.98, 98), (0.985, 99), (0.999, 99)]
    )
    func rank(share: Double, rank: Int) {
        var window = LatencyWindow()
        for milliseconds in (1...99).shuffled() { window.add(.milliseconds(milliseconds)) }
        #expect(window.percentile(share) == .milliseconds(rank))
    }

    @Test("The oldest of 1,000 latencies is replaced")
    func replacing() {
        var window = LatencyWindow()
        for _ in 1...1_000 { window.add(.seconds(1)) }
        #expect(window.percentile(0.5) == .seconds(1))
        for _ in 1...501 { window.add(.milliseconds(3)) }
        #expect(window.percentile(0.5) == .milliseconds(3))
        #expect(window.percentile(0.6) == .seconds(1))
    }

    @Test("A percentile is kept until a twentieth of the latencies is new")
    func keeping() {
        var window = LatencyWindow()
        for _ in 1...100 { window.add(.milliseconds(1)) }
        #expect(window.percentile(0.999) == .milliseconds(1))
        for _ in 1...4 { window.add(.seconds(1)) }
        #expect(window.percentile(0.999) == .milliseconds(1))
        window.add(.seconds(1))
        #expect(window.percentile(0.999) == .seconds(1))
    }

    @Test("Latencies below zero and above an hour are kept within what the window can hold")
    func extremes() {
        var window = LatencyWindow()
        for _ in 1...20 { window.add(.seconds(-1)) }
        #expect(window.percentile(0.5) == .zero)
        for _ in 1...100 { window.add(.seconds(1_000_000)) }
        #expect(window.percentile(0.5) == .microseconds(Int64(UInt32.max)))
    }
}
