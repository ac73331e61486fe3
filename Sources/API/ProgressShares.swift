import Pipeline
import Synchronization

/// The progress of several operations as one, each with the same share.
final class ProgressShares: Sendable {
    private struct State {
        var parts: [Double]
        var sum = 0.0
        var endedCount = 0
        var last = 0.0
    }

    private let state: Mutex<State>
    private let report: @Sendable (Double) -> Void

    /// - Parameters:
    ///   - count: how many operations there are.
    ///   - report: only hands on; it runs under a lock, so that steps keep their order.
    init(count: Int, report: @escaping @Sendable (Double) -> Void) {
        state = Mutex(State(parts: Array(repeating: 0, count: count)))
        self.report = report
    }

    /// What an operation tells of itself.
    func part(_ index: Int) -> @Sendable (Double) -> Void {
        { self.set($0, index) }
    }

    /// An operation has ended, well or not.
    func end(_ index: Int) { set(1, index) }

    private func set(_ progress: Double, _ index: Int) {
        state.withLock { state in
            let step = min(progress, 1) - state.parts[index]
            guard step > 0 else { return }
            state.parts[index] += step
            state.sum += step
            if progress >= 1 { state.endedCount += 1 }
            // A sum of shares may miss 1, or reach it too early.
            let isWhole = state.endedCount == state.parts.count
            let total = isWhole ? 1 : min(state.sum / Double(state.parts.count), ProgressMeter.greatestBeforeEnd)
            guard total > state.last else { return }
            state.last = total
            report(total)
        }
    }
}
