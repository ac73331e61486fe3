import PipelineCore
import Synchronization

/// The combined progress of several operations, each with the same share.
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
    ///   - count: the number of operations.
    ///   - report: runs under a lock to keep steps in order, so it must only pass the progress on.
    init(count: Int, report: @escaping @Sendable (Double) -> Void) {
        state = Mutex(State(parts: Array(repeating: 0, count: count)))
        self.report = report
    }

    /// The closure to which an operation reports its progress.
    func part(_ index: Int) -> @Sendable (Double) -> Void {
        { self.set($0, index) }
    }

    /// Marks an operation as ended, whether it succeeded or failed.
    func end(_ index: Int) { set(1, index) }

    private func set(_ progress: Double, _ index: Int) {
        state.withLock { state in
            let step = min(progress, 1) - state.parts[index]
            guard step > 0 else { return }
            state.parts[index] += step
            state.sum += step
            if progress >= 1 { state.endedCount += 1 }
            // A sum of shares may miss 1 or reach it too early.
            let isWhole = state.endedCount == state.parts.count
            let total = isWhole ? 1 : min(state.sum / Double(state.parts.count), ProgressMeter.greatestBeforeEnd)
            guard total > state.last else { return }
            state.last = total
            report(total)
        }
    }
}
