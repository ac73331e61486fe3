/// When an indicator of activity is shown, as a value without clock and tasks.
///
/// Times count from any one moment; one that is earlier than the one before, as two threads may bring it about, is taken for the same.
struct ActivityState: Sendable {
    private let showAfter: Duration
    private let hold: Duration

    /// How many calls are under way.
    private(set) var callCount = 0
    private(set) var isShown = false

    /// When the first of the calls began that are under way, or the last of them ended.
    private var turn = Duration.zero

    init(showAfter: Duration, hold: Duration) {
        self.showAfter = showAfter
        self.hold = hold
    }

    /// When the next `tick` is due, `nil` while no change can come from time alone.
    var nextTick: Duration? {
        switch (callCount > 0, isShown) {
        case (true, false): turn + showAfter
        case (false, true): turn + hold
        default: nil
        }
    }

    /// A call has begun; gives what is shown from now on, `nil` without a change.
    mutating func begin(at now: Duration) -> Bool? {
        callCount += 1
        guard callCount == 1 else { return nil }
        turn = max(turn, now)
        return showAfter > .zero ? nil : tick(at: now)
    }

    /// A call has ended, in whatever way.
    mutating func end(at now: Duration) -> Bool? {
        precondition(callCount > 0, "a call has ended that never began")
        callCount -= 1
        guard callCount == 0 else { return nil }
        turn = max(turn, now)
        return hold > .zero ? nil : tick(at: now)
    }

    /// Time has passed; one that comes early changes nothing.
    mutating func tick(at now: Duration) -> Bool? {
        guard let nextTick, nextTick <= now else { return nil }
        isShown.toggle()
        return isShown
    }
}
