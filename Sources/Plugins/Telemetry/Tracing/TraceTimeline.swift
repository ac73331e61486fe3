#if Telemetry
import Foundation
import PipelineCore
import Tracing

/// The provider's clock as dates.
///
/// The date is read once, so that a change of the date does not shift the spans of a call.
struct TraceTimeline: Sendable {
    private let origin: Int64

    init(_ context: PipelineContext) {
        let date = Duration.seconds(context.clock.date.timeIntervalSince1970)
        origin = (date - context.start.duration(to: context.clock.now)).nanoseconds
    }

    func now(_ context: PipelineContext) -> DefaultTracerClock.Timestamp {
        let (sum, overflows) = origin.addingReportingOverflow(context.start.duration(to: context.clock.now).nanoseconds)
        return DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: overflows ? 0 : UInt64(clamping: sum))
    }
}
#endif
