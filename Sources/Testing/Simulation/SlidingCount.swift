/// A count of events in every window of a given length.
///
/// A window contains its beginning and not its end, so two events that are exactly one length apart are never in the
/// same window. The fullest window ends at an event, so the counts at the events are all that matter.
struct SlidingCount {
    let limit: Int
    let window: Duration
    /// The moments of all events, in order.
    private(set) var moments: [Duration] = []
    /// The highest number of events in a window.
    private(set) var highest = 0
    /// The number of events that exceeded the limit of the window that ends at them.
    private(set) var exceededCount = 0
    /// The index of the oldest event in the window that ends now.
    private var first = 0

    init(limit: Int, window: Duration) {
        self.limit = limit
        self.window = window
    }

    /// Returns the number of events in the window that ends at a moment no earlier than any event.
    mutating func count(at now: Duration) -> Int {
        while first < moments.count, moments[first] <= now - window { first += 1 }
        return moments.count - first
    }

    /// Adds an event no earlier than any other.
    mutating func add(at now: Duration) {
        moments.append(now)
        let count = count(at: now)
        highest = max(highest, count)
        if count > limit { exceededCount += 1 }
    }

    /// Returns the time until the window has room for another event.
    mutating func timeUntilRoom(at now: Duration) -> Duration {
        guard limit > 0 else { return window }
        return count(at: now) < limit ? .zero : moments[moments.count - limit] + window - now
    }
}
