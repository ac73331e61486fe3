/// The outcomes of the latest calls, in an amount of memory that does not depend on the number of calls.
///
/// Times are measured from any fixed moment. A time earlier than the previous one, which two threads can cause, counts
/// as equal to it.
struct CircuitWindow: Sendable {
    /// The number of slices of a window by time, which moves by one slice at a time.
    static let sliceCount = 10

    private struct Slice {
        var callCount = 0
        var failureCount = 0
    }

    /// The number of calls in the window when the latest outcome was recorded.
    private(set) var callCount = 0
    /// The number of failures among them.
    private(set) var failureCount = 0

    /// The size of a window by count; 0 for one by time.
    private let maximumCallCount: Int
    /// The outcomes of a window by count as a ring, one bit for each call, set for a failure.
    private var bits: [UInt64]
    /// The place of the next call in the ring.
    private var next = 0

    /// The slices of a window by time as a ring.
    private var slices: [Slice]
    private let sliceLength: Duration
    /// The number of the current slice since the fixed moment, and when it ends.
    private var current = 0
    private var end: Duration

    init(_ window: CircuitRules.Window) {
        switch window {
        case .count(let count):
            maximumCallCount = count
            bits = [UInt64](repeating: 0, count: (count + 63) / 64)
            slices = []
            sliceLength = .zero
        case .time(let duration):
            maximumCallCount = 0
            bits = []
            slices = [Slice](repeating: Slice(), count: Self.sliceCount)
            sliceLength = duration / Self.sliceCount
        }
        end = sliceLength
    }

    /// Adds an outcome, and drops those that have left the window.
    mutating func record(isFailure: Bool, at now: Duration) {
        guard maximumCallCount == 0 else { return record(isFailure) }
        if now >= end { advance(to: now) }
        let place = current % Self.sliceCount
        slices[place].callCount += 1
        callCount += 1
        guard isFailure else { return }
        slices[place].failureCount += 1
        failureCount += 1
    }

    /// Returns the numbers of calls and of failures that have not left the window.
    func counts(at now: Duration) -> (callCount: Int, failureCount: Int) {
        guard maximumCallCount == 0, now >= end else { return (callCount, failureCount) }
        var window = self
        window.advance(to: now)
        return (window.callCount, window.failureCount)
    }

    /// Replaces the oldest outcome of a window by count.
    private mutating func record(_ isFailure: Bool) {
        let (word, bit) = (next / 64, UInt64(1) << UInt64(next % 64))
        if callCount < maximumCallCount {
            callCount += 1
        } else if bits[word] & bit != 0 {
            failureCount -= 1
        }
        if isFailure {
            bits[word] |= bit
            failureCount += 1
        } else {
            bits[word] &= ~bit
        }
        next = next + 1 == maximumCallCount ? 0 : next + 1
    }

    /// Moves a window by time on to the slice of a moment.
    private mutating func advance(to now: Duration) {
        // At least the next one, whatever the rounding of the quotient.
        let new = max(current + 1, Int(now / sliceLength))
        for index in 1...min(new - current, Self.sliceCount) {
            let place = (current + index) % Self.sliceCount
            callCount -= slices[place].callCount
            failureCount -= slices[place].failureCount
            slices[place] = Slice()
        }
        current = new
        end = sliceLength * (current + 1)
    }
}
