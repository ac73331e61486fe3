import PipelineCore

/// The moment until which a server wants no requests, and the order in which calls resume after it.
///
/// The calls that waited, and those that the server turned away meanwhile and that may return, are spread evenly over a
/// duration. Calls that come in that time are spread over the following half of the duration, and so on, so that the
/// line dissolves without a burst.
struct RateGate: Sendable {
    private struct Resumption {
        var next: PipelineClock.Instant
        var spacing: Duration
        var end: PipelineClock.Instant
        var length: Duration
    }

    /// Below this length, the remaining calls are not spread any more.
    private static let minimumLength: Duration = .milliseconds(10)

    private let spread: Duration
    /// The moment at which the gate opens; `nil` if it is open.
    private(set) var opening: PipelineClock.Instant?
    private var rejectedCount = 0
    private var resumption: Resumption?

    init(spread: Duration) {
        self.spread = spread
    }

    /// Whether the gate is open and spreads no calls.
    var isIdle: Bool { opening == nil && resumption == nil }

    /// Keeps the gate closed until a moment at least; returns whether that is later than before.
    ///
    /// `isRejected` means that the server turned the request away, so that a retry may follow.
    mutating func close(until moment: PipelineClock.Instant, isRejected: Bool, at now: PipelineClock.Instant) -> Bool {
        guard moment > now else { return false }
        if opening == nil { rejectedCount = 0 }
        if isRejected { rejectedCount += 1 }
        guard moment > opening ?? now else { return false }
        opening = moment
        return true
    }

    /// Returns when the next of the waiting calls may go; `nil` if now.
    mutating func nextPass(at now: PipelineClock.Instant, waiting: Int) -> PipelineClock.Instant? {
        if let opening {
            guard now >= opening else { return opening }
            self.opening = nil
            begin(at: now, spread, waiting + rejectedCount)
        } else if let current = resumption, now >= current.end {
            begin(at: now, current.length / 2, waiting)
        }
        return resumption.flatMap { $0.next > now ? $0.next : nil }
    }

    /// Whether the gate has been open for as long as calls are spread.
    func isIdle(at now: PipelineClock.Instant) -> Bool {
        now >= opening?.advanced(by: spread) ?? now && now >= resumption?.end ?? now
    }

    mutating func pass(at now: PipelineClock.Instant) {
        guard let spacing = resumption?.spacing else { return }
        resumption?.next = now.advanced(by: spacing)
    }

    private mutating func begin(at now: PipelineClock.Instant, _ length: Duration, _ count: Int) {
        guard count > 1, length >= Self.minimumLength else {
            resumption = nil
            return
        }
        resumption = Resumption(next: now, spacing: length / count, end: now.advanced(by: length), length: length)
    }
}
