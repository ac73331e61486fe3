import PipelinePlugins
import TestSupport
import Testing

@testable import PipelineResilience

@Suite("RateWindow", .watched)
struct RateWindowTests {
    /// A window for 10 requests in 1,000 ns.
    private func window(burst: Int = 1, jitter: Int64 = 0, catchesUp: Bool = true) -> RateWindow {
        RateWindow(limit: 10, window: 1_000, burst: burst, jitter: jitter, catchesUp: catchesUp)
    }

    /// Sends requests as soon as they may be sent, from a moment on; returns when they were sent.
    private func send(_ count: Int, from start: Int64, in window: inout RateWindow) -> [Int64] {
        var now = start
        return (0..<count).map { _ in
            if case .at(let moment) = window.availability(of: 1, at: now) { now = moment }
            _ = window.availability(of: 1, at: now)
            window.reserve(1, at: now)
            _ = window.depart(1, at: now)
            return now
        }
    }

    @Test("After a pause, requests are spaced by the full interval")
    func rest() {
        var window = window()
        #expect(send(4, from: 50, in: &window) == [50, 150, 250, 350])
        #expect(send(3, from: 3_000, in: &window) == [3_000, 3_100, 3_200])
    }

    @Test("V11: without catching up, two requests are never closer than the interval", arguments: [true, false])
    func strictPacing(catchesUp: Bool) {
        var window = window(jitter: 200, catchesUp: catchesUp)
        _ = send(1, from: 0, in: &window)
        var (last, closest) = (Int64(0), Int64.max)
        for _ in 0..<14 {
            guard case .at(let now) = window.availability(of: 1, at: last) else { break }
            _ = window.availability(of: 1, at: now)
            window.reserve(1, at: now)
            window.arrive(1, of: window.depart(1, at: now), at: now)
            closest = min(closest, now - last)
            last = now
        }
        #expect(closest == (catchesUp ? Int64(50) : Int64(100)))
    }

    @Test("V11: without catching up, a request that is cancelled brings the next one no closer to one sent after it")
    func cancelledPacing() {
        var window = window(catchesUp: false)
        window.reserve(1, at: 0)
        window.reserve(1, at: 100)
        _ = window.depart(1, at: 100)
        window.cancel(1, at: 110)
        #expect(window.availability(of: 1, at: 110) == .at(200))
    }

    @Test("Only after the window has held up a request do the next ones follow at twice the pace")
    func catchUp() {
        var window = window(burst: 10, jitter: 200)
        #expect(send(10, from: 0, in: &window) == Array(repeating: 0, count: 10))
        // All that was sent counts for 1,200 ns and 1 ns more.
        #expect(send(1, from: 0, in: &window) == [1_201])
        // The first request may arrive up to 200 ns late, the others have arrived at once.
        var even = self.window(jitter: 200)
        _ = send(1, from: 0, in: &even)
        var moments: [Int64] = []
        for _ in 0..<14 {
            guard case .at(let now) = even.availability(of: 1, at: moments.last ?? 0) else { break }
            _ = even.availability(of: 1, at: now)
            even.reserve(1, at: now)
            even.arrive(1, of: even.depart(1, at: now), at: now)
            moments.append(now)
        }
        #expect(moments.prefix(9).elementsEqual((1..<10).map { $0 * 100 }))
        #expect(moments.dropFirst(9).elementsEqual([1_101, 1_201, 1_251, 1_301, 1_401]))
    }

    @Test("A cancelled request returns its time, but no more than that")
    func cancel() {
        var window = window()
        window.reserve(3, at: 0)
        #expect(window.availability(of: 1, at: 0) == .at(300))
        window.cancel(3, at: 100)
        #expect(window.availability(of: 1, at: 100) == .now)
        window.reserve(1, at: 100)
        #expect(window.availability(of: 1, at: 100) == .at(200))
    }

    @Test("A window is idle once no request counts")
    func idle() {
        var window = window()
        _ = send(1, from: 0, in: &window)
        let (early, late) = (window.isIdle(at: 900), window.isIdle(at: 1_001))
        #expect(!early)
        #expect(late)
    }
}
