import Foundation
import PipelineCore

/// The share of requests that a client does not send to a server that refuses many without saying for how long.
///
/// Requests and accepted requests of the last minutes are counted, older ones less. Up to twice as many as the server
/// accepts are sent, so that the client notices when the server accepts more.
///
/// Source: Site Reliability Engineering, Handling Overload, https://sre.google/sre-book/handling-overload/
struct ClientThrottle: Sendable {
    private static let halfLife = 30.0
    private static let factor = 2.0

    // As if half of ten requests had been accepted, so that one refusal says little.
    private var requestCount = 10.0
    private var acceptCount = 5.0
    private var latest: PipelineClock.Instant

    init(at now: PipelineClock.Instant) { latest = now }

    /// Counts a request, and returns the share of those like it that are not sent, `0..<1`.
    mutating func refusalShare(at now: PipelineClock.Instant) -> Double {
        decay(to: now)
        requestCount += 1
        return refusalShare
    }

    /// Returns the share of requests that are not sent now, without counting one.
    func share(at now: PipelineClock.Instant) -> Double {
        var throttle = self
        return throttle.isOver(at: now) ? 0 : throttle.refusalShare
    }

    private var refusalShare: Double { max(0, (requestCount - Self.factor * acceptCount) / (requestCount + 1)) }

    /// Counts a response that is not a refusal.
    mutating func accept(at now: PipelineClock.Instant) {
        decay(to: now)
        acceptCount += 1
    }

    /// Whether so few requests are left that a new throttle would do the same.
    mutating func isOver(at now: PipelineClock.Instant) -> Bool {
        decay(to: now)
        return requestCount < 1
    }

    private mutating func decay(to now: PipelineClock.Instant) {
        let seconds = latest.duration(to: now) / .seconds(1)
        guard seconds > 0 else { return }
        let kept = exp2(-seconds / Self.halfLife)
        requestCount *= kept
        acceptCount *= kept
        latest = now
    }
}
