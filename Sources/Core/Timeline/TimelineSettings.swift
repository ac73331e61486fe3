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
    let allocations: AllocationCounter?
    private let lastSent = Mutex<(PipelineRequest, PipelineContext)?>(nil)

    /// The last request that was sent in an analysis, with its context, which holds these settings: an analysis sets
    /// it to `nil` at its end.
    var sent: (PipelineRequest, PipelineContext)? {
        get { lastSent.withLock { $0 } }
        set { lastSent.withLock { $0 = newValue } }
    }

    private init(clock: PipelineClock, isAnalysis: Bool, allocations: AllocationCounter?) {
        self.clock = clock
        self.isAnalysis = isAnalysis
        self.allocations = allocations
    }

    /// Records timelines for callers and plugins.
    static func timeline(_ clock: PipelineClock) -> TimelineSettings {
        TimelineSettings(clock: clock, isAnalysis: false, allocations: nil)
    }

    /// Records what each stage of each plugin costs.
    static func analysis(_ clock: PipelineClock, _ allocations: AllocationCounter?) -> TimelineSettings {
        TimelineSettings(clock: clock, isAnalysis: true, allocations: allocations)
    }
}
