#if Tracing
import Foundation
import Pipeline
import Tracing

/// A moment for a tracer.
struct TraceInstant: TracerInstant {
    let nanosecondsSinceEpoch: UInt64

    static func < (lhs: TraceInstant, rhs: TraceInstant) -> Bool {
        lhs.nanosecondsSinceEpoch < rhs.nanosecondsSinceEpoch
    }
}

/// The provider's clock as dates: the date is asked for once, so that spans of a call do not jump when it is set.
struct TraceTimeline: Sendable {
    private let origin: Int64

    init(_ context: PipelineContext) {
        let date = Duration.seconds(context.clock.date.timeIntervalSince1970)
        origin = (date - context.start.duration(to: context.clock.now)).nanoseconds
    }

    func now(_ context: PipelineContext) -> TraceInstant {
        let (sum, overflows) = origin.addingReportingOverflow(context.start.duration(to: context.clock.now).nanoseconds)
        return TraceInstant(nanosecondsSinceEpoch: overflows ? 0 : UInt64(clamping: sum))
    }
}
#endif
