/// What one recorded call has cost, by plugin and stage.
struct CallCosts {
    /// The cost of a part of a call.
    struct Cost {
        var runs = 0.0
        var nanoseconds = 0
        var waitNanoseconds = 0
        var allocations = 0

        static func += (one: inout Self, other: Self) {
            one.runs += other.runs
            one.nanoseconds += other.nanoseconds
            one.waitNanoseconds += other.waitNanoseconds
            one.allocations += other.allocations
        }

        /// Subtracts a part; the rest does not run a number of times.
        static func -= (one: inout Self, part: Self) {
            one.runs = 0
            one.nanoseconds -= part.nanoseconds
            one.allocations -= part.allocations
        }
    }

    struct StageKey: Hashable {
        let plugin: Int
        let stage: String
    }

    private(set) var stages: [StageKey: Cost] = [:]
    private(set) var exchanges = Cost()
    /// Whether all allocations of the call were counted on one thread, or on all.
    private(set) var isCounted = true

    /// Adds up what the spans of a call cost without the spans inside them.
    init(_ entries: [TimelineRecorder.Entry], _ costs: [SpanCost?], until end: SpanCost.Reading) {
        // What each span must not count: other spans, and the recording of those that belong to it.
        var inside = Array(repeating: [Part](), count: entries.count)
        var waits = Array(repeating: [Part](), count: entries.count)
        for (entry, cost) in zip(entries, costs) {
            guard let cost else { continue }
            let outer = Part(begin: cost.outerBegin, end: cost.outerEnd ?? end)
            let inner = Part(begin: cost.innerBegin, end: cost.innerEnd ?? end)
            isCounted = isCounted && [outer, inner].allSatisfy { $0.isOn(end.thread) }
            let isOwn = entry.belongsToOwner
            let parts =
                isOwn ? [Part(begin: outer.begin, end: inner.begin), Part(begin: inner.end, end: outer.end)] : [outer]
            var isOwned = isOwn
            var next = entry.parent
            while let ancestor = next {
                inside[ancestor] += isOwned ? parts : [outer]
                if isOwned, entry.kind == .wait, !entries[ancestor].belongsToOwner { waits[ancestor].append(inner) }
                if !entries[ancestor].belongsToOwner { isOwned = false }
                next = entries[ancestor].parent
            }
        }
        for (id, entry) in entries.enumerated() {
            guard let span = costs[id] else { continue }
            let inner = Part(begin: span.innerBegin, end: span.innerEnd ?? end)
            let cost = Cost(
                runs: entry.kind == .body ? 0 : 1,
                nanoseconds: inner.nanoseconds.length - inner.nanoseconds.covered(by: inside[id].map(\.nanoseconds)),
                waitNanoseconds: inner.nanoseconds.covered(by: waits[id].map(\.nanoseconds)),
                allocations: inner.allocations.length - inner.allocations.covered(by: inside[id].map(\.allocations))
            )
            if let plugin = span.plugin {
                stages[StageKey(plugin: plugin, stage: entry.kind.rawValue), default: Cost()] += cost
            } else if [.wire, .body].contains(entry.kind) {
                exchanges += cost
            }
        }
    }
}

extension TimelineRecorder.Entry {
    /// Whether the time of the span is that of the plugin that recorded it.
    fileprivate var belongsToOwner: Bool { kind == .work || kind == .wait }
}

/// A part of a call, in time and in allocations.
private struct Part {
    let begin: SpanCost.Reading
    let end: SpanCost.Reading

    func isOn(_ thread: Int?) -> Bool { begin.thread == thread && end.thread == thread }

    var nanoseconds: Interval { Interval(begin.time.offset.wholeNanoseconds, end.time.offset.wholeNanoseconds) }
    var allocations: Interval { Interval(begin.allocations, end.allocations) }
}

/// A range that may be empty.
private struct Interval {
    let begin: Int
    let end: Int

    init(_ begin: Int, _ end: Int) {
        self.begin = begin
        self.end = max(begin, end)
    }

    var length: Int { end - begin }

    /// Returns how much of the range others cover, which may overlap.
    func covered(by others: [Interval]) -> Int {
        var covered = 0
        var reached = begin
        for other in others.sorted(by: { $0.begin < $1.begin }) {
            let from = max(reached, other.begin)
            let to = min(end, other.end)
            guard from < to else { continue }
            covered += to - from
            reached = to
        }
        return covered
    }
}

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

    /// The index of the plugin whose stage the span is.
    let plugin: Int?
    let outerBegin: Reading
    var innerBegin: Reading
    /// The ends, `nil` until the span has ended.
    var innerEnd: Reading?
    var outerEnd: Reading?

    init(plugin: Int?, begin: Reading) {
        self.plugin = plugin
        outerBegin = begin
        innerBegin = begin
    }
}
