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
