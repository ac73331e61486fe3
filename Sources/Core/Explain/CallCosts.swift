/// What one recorded call has cost, by plugin and stage.
struct CallCosts {
    /// The cost of a part of a call.
    struct Cost {
        var runs = 0
        var time = Duration.zero
        var wait = Duration.zero
        var allocations = 0
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
            let outer = Part(cost.outer, until: end)
            let inner = Part(cost.inner, until: end)
            isCounted = isCounted && [outer, inner].allSatisfy { $0.isOn(end.thread) }
            let isOwn = entry.belongsToOwner
            let parts = isOwn ? [Part(outer.begin, inner.begin), Part(inner.end, outer.end)] : [outer]
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
            let inner = Part(span.inner, until: end)
            var cost = Cost(runs: entry.kind == .body ? 0 : 1)
            cost.time = inner.time.length - inner.time.covered(by: inside[id].map(\.time))
            cost.allocations = inner.allocations.length - inner.allocations.covered(by: inside[id].map(\.allocations))
            cost.wait = inner.time.covered(by: waits[id].map(\.time))
            if let plugin = span.plugin {
                stages[StageKey(plugin: plugin, stage: entry.kind.rawValue), default: Cost()].add(cost)
            } else if [.wire, .body].contains(entry.kind) {
                exchanges.add(cost)
            }
        }
    }
}

extension CallCosts.Cost {
    fileprivate mutating func add(_ other: Self) {
        runs += other.runs
        time += other.time
        wait += other.wait
        allocations += other.allocations
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

    init(_ begin: SpanCost.Reading, _ end: SpanCost.Reading) {
        self.begin = begin
        self.end = end
    }

    init(_ interval: SpanCost.Interval, until end: SpanCost.Reading) {
        self.init(interval.lowerBound, interval.upperBound ?? end)
    }

    func isOn(_ thread: Int?) -> Bool { begin.thread == thread && end.thread == thread }

    var time: Interval<Duration> { Interval(begin.time.offset, end.time.offset) }
    var allocations: Interval<Int> { Interval(begin.allocations, end.allocations) }
}

/// A range that may be empty.
struct Interval<Value: Comparable & AdditiveArithmetic> {
    let begin: Value
    let end: Value

    init(_ begin: Value, _ end: Value) {
        self.begin = begin
        self.end = max(begin, end)
    }

    var length: Value { end - begin }

    /// Returns how much of the range others cover, which may overlap.
    func covered(by others: [Interval]) -> Value {
        var covered = Value.zero
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
