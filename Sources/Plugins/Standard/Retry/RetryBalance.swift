import Foundation

/// The remaining budget of one host: a sum over the last ten tenths of a window.
struct RetryBalance: Sendable {
    static let sliceCount = 10
    /// The cost of a retry; an integer, because sums of fractions drift.
    static let cost = 1_000_000

    private let deposit: Int
    private let reserve: Int
    private let sliceLength: TimeInterval
    private var slices = [Int](repeating: 0, count: sliceCount)
    private var sum = 0
    /// The index of the current tenth of a window.
    private(set) var slice: Double

    init(_ settings: RetryBudget.Settings, at date: Date) {
        let window = settings.window / .seconds(1)
        deposit = Int((settings.ratio * Double(Self.cost)).rounded())
        reserve = Int((settings.minimumPerSecond * window * Double(Self.cost)).rounded())
        sliceLength = window / Double(Self.sliceCount)
        slice = Self.slice(of: date, sliceLength)
    }

    /// Whether retries have taken more than calls have added.
    var isSpent: Bool { sum < 0 }

    /// Adds the share that a call allows.
    mutating func addCall(at date: Date) {
        advance(to: date)
        add(deposit)
    }

    /// Deducts the cost of a retry, if the balance suffices.
    mutating func takeRetry(at date: Date) -> Bool {
        advance(to: date)
        guard reserve + sum >= Self.cost else { return false }
        add(-Self.cost)
        return true
    }

    private mutating func add(_ amount: Int) {
        slices[0] += amount
        sum += amount
    }

    /// Discards amounts that are older than the window.
    ///
    /// If the date is set back by more than a window, the balance starts anew; if by less, it does not advance.
    private mutating func advance(to date: Date) {
        let new = Self.slice(of: date, sliceLength)
        let distance = new - slice
        guard distance >= 1 || distance <= -Double(Self.sliceCount) else { return }
        slice = new
        let count = distance < 0 ? Self.sliceCount : Int(min(distance, Double(Self.sliceCount)))
        slices = Array((Array(repeating: 0, count: count) + slices).prefix(Self.sliceCount))
        sum = slices.reduce(0, +)
    }

    private static func slice(of date: Date, _ length: TimeInterval) -> Double {
        let slice = (date.timeIntervalSince1970 / length).rounded(.down)
        return slice.isFinite ? slice : 0
    }
}
