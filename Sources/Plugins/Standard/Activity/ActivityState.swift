/// Decides when an activity indicator is shown, as a value without a clock or tasks.
///
/// Times are measured from any fixed moment. A time earlier than the previous one, which two threads can cause, counts
/// as equal to it.
struct ActivityState: Sendable {
    private let showAfter: Duration
    private let hold: Duration

    /// The number of calls in progress.
    private(set) var callCount = 0
    private(set) var isShown = false

    /// When the first of the current calls began, or when the last call ended.
    private var turn = Duration.zero

    init(showAfter: Duration, hold: Duration) {
        self.showAfter = showAfter
        self.hold = hold
    }

    /// When the next `tick` is due; `nil` if time alone cannot cause a change.
    var nextTick: Duration? {
        switch (callCount > 0, isShown) {
        case (true, false): turn + showAfter
        case (false, true): turn + hold
        default: nil
        }
    }

    /// Counts a call that begins, and returns whether the indicator is now shown; `nil` if that did not change.
    mutating func begin(at now: Duration) -> Bool? {
        callCount += 1
        guard callCount == 1 else { return nil }
        turn = max(turn, now)
        return showAfter > .zero ? nil : tick(at: now)
    }

    /// Counts a call that ends in any way, and returns whether the indicator is now shown; `nil` if that did not
    /// change.
    mutating func end(at now: Duration) -> Bool? {
        precondition(callCount > 0, "a call has ended that never began")
        callCount -= 1
        guard callCount == 0 else { return nil }
        turn = max(turn, now)
        return hold > .zero ? nil : tick(at: now)
    }

    /// Applies a change that is due, and returns whether the indicator is now shown; `nil` if none is due yet.
    mutating func tick(at now: Duration) -> Bool? {
        guard let nextTick, nextTick <= now else { return nil }
        isShown.toggle()
        return isShown
    }
}
