/// The speed of a transfer, as the mean over its last seconds.
struct TransferRate: Sendable {
    /// The time over which the mean is taken; longer if no bytes have passed for longer.
    static let window = Duration.seconds(5)
    /// The shortest time with a meaningful mean, and the time between two marks.
    static let spacing = Duration.milliseconds(500)

    private struct Mark {
        let instant: PipelineClock.Instant
        let byteCount: Int
    }

    /// Earlier counts, oldest first: the last one before the window, and those within it.
    private var marks: [Mark] = []

    /// The bytes per second, zero and up; `nil` until ``spacing`` has passed since the first bytes.
    private(set) var bytesPerSecond: Double?

    /// Adds a count.
    ///
    /// The first bytes do not count, because the time they took is unknown.
    ///
    /// - Parameters:
    ///   - byteCount: all bytes that have passed.
    ///   - now: the current moment.
    mutating func add(_ byteCount: Int, at now: PipelineClock.Instant) {
        while marks.count > 1, marks[1].instant.duration(to: now) >= Self.window { marks.removeFirst() }
        guard let first = marks.first, let last = marks.last else {
            marks = [Mark(instant: now, byteCount: byteCount)]
            return
        }
        let elapsed = first.instant.duration(to: now)
        if elapsed >= Self.spacing {
            bytesPerSecond = Double(max(0, byteCount - first.byteCount)) / (elapsed / .seconds(1))
        }
        if last.instant.duration(to: now) >= Self.spacing { marks.append(Mark(instant: now, byteCount: byteCount)) }
    }
}
