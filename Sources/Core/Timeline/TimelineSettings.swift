import Synchronization

/// How the calls of a provider are recorded.
///
/// A class, so that a call that records nothing reads only one reference.
final class TimelineSettings: Sendable {
    /// The clock of the spans.
    let clock: PipelineClock
    /// Whether the calls are recorded for a ``PipelineAnalysis``, and plugins see no timeline.
    let isAnalysis: Bool
    /// Counts the allocations of an analysis.
    let allocations: PipelineAnalysis.AllocationCounter?
    private let lastSent = Mutex<(PipelineRequest, PipelineContext)?>(nil)

    /// The last request that was sent in an analysis, with its context, which holds these settings: an analysis sets
    /// it to `nil` at its end.
    var sent: (PipelineRequest, PipelineContext)? {
        get { lastSent.withLock { $0 } }
        set { lastSent.withLock { $0 = newValue } }
    }

    init(clock: PipelineClock, isAnalysis: Bool = false, allocations: PipelineAnalysis.AllocationCounter? = nil) {
        self.clock = clock
        self.isAnalysis = isAnalysis
        self.allocations = allocations
    }
}

extension TimelineSettings {
    /// Reads the time first, at the end of what is measured.
    func firstReading() -> SpanCost.Reading {
        let time = clock.now
        let count = allocations?.read()
        return SpanCost.Reading(time: time, allocations: count?.count ?? 0, thread: count?.thread)
    }

    /// Reads the time last, at the beginning of what is measured.
    func lastReading() -> SpanCost.Reading {
        let count = allocations?.read()
        return SpanCost.Reading(time: clock.now, allocations: count?.count ?? 0, thread: count?.thread)
    }
}
