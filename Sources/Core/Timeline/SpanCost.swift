/// What an analysis measures of a span: its work, and that work with the recording of the span around it.
///
/// What is between the two belongs neither to the span nor to the one outside it, so that recording costs no plugin
/// anything.
struct SpanCost: Sendable {
    /// The time, and the number of allocations so far.
    struct Reading: Sendable {
        let time: PipelineClock.Instant
        let allocations: Int
        /// The thread that was counted; `nil` if all were.
        let thread: Int?
    }

    struct Interval: Sendable {
        var lowerBound: Reading
        /// `nil` until the span has ended.
        var upperBound: Reading?
    }

    /// The index of the plugin whose stage the span is.
    let plugin: Int?
    var outer: Interval
    var inner: Interval

    init(plugin: Int?, begin: Reading) {
        self.plugin = plugin
        outer = Interval(lowerBound: begin)
        inner = outer
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
