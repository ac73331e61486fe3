import HTTPTypes
import Synchronization

/// The timeline of one call while it is recorded.
final class TimelineRecorder: Sendable {
    /// A span; its end is `nil` until it has ended.
    struct Entry {
        let parent: Int?
        let kind: Timeline.Span.Kind
        let name: Name
        let attempt: Int
        let hop: Int
        let start: PipelineClock.Instant
        var end: PipelineClock.Instant?
        /// The status, or the code of the error; `nil` for neither.
        var outcome: String?
    }

    /// A name, whose text is made when it is read.
    enum Name: Sendable {
        case text(String)
        case type(Any.Type)
        indirect case request(PipelineRequest)
        /// The name of the whole call.
        case endpoint
    }

    private struct State {
        var entries: [Entry]
        /// What an analysis measures of each span, `nil` for the whole call; empty otherwise, so that spans are small.
        var costs: [SpanCost?]
        var droppedCount = 0
    }

    private static let maximumCount = 1_000
    /// Enough for a call with a few plugins, so that its spans are one allocation.
    private static let usualCount = 24
    private let endpoint: Endpoint
    let settings: TimelineSettings
    private var clock: PipelineClock { settings.clock }
    private let start: PipelineClock.Instant
    private let state: Mutex<State>

    init(_ endpoint: Endpoint, _ settings: TimelineSettings, from start: PipelineClock.Instant) {
        self.settings = settings
        self.start = start
        self.endpoint = endpoint
        var entries: [Entry] = []
        entries.reserveCapacity(Self.usualCount)
        entries.append(Entry(parent: nil, kind: .call, name: .endpoint, attempt: 1, hop: 0, start: start))
        state = Mutex(State(entries: entries, costs: settings.isAnalysis ? [nil] : []))
    }

    /// Begins a span inside the one of a context; returns its number, or `nil` if there are too many.
    ///
    /// The name is made here, so that an analysis does not count it as part of the span outside. If the span is the
    /// stage of a plugin, `plugin` is the plugin's index.
    func begin(
        _ kind: Timeline.Span.Kind,
        _ name: @autoclosure () -> Name,
        _ context: PipelineContext,
        of plugin: Int? = nil
    ) -> Int? {
        guard settings.isAnalysis else { return add(kind, name(), in: context.span, context, from: clock.now, to: nil) }
        let cost = SpanCost(plugin: plugin, begin: settings.firstReading())
        let id = add(kind, name(), in: context.span, context, from: cost.outerBegin.time, to: nil, cost)
        enter(id)
        return id
    }

    /// Records that the work of a span begins now, in an analysis: what was done since ``begin(_:_:_:of:)`` was part of
    /// recording it.
    func enter(_ id: Int?) {
        guard let id, settings.isAnalysis else { return }
        let reading = settings.lastReading()
        state.withLock { $0.costs[id]?.innerBegin = reading }
    }

    /// Adds a span; returns its number, or `nil` if there are too many.
    @discardableResult
    func add(
        _ kind: Timeline.Span.Kind,
        _ name: Name,
        in parent: Int,
        _ context: PipelineContext,
        from start: PipelineClock.Instant,
        to end: PipelineClock.Instant?,
        _ cost: SpanCost? = nil
    ) -> Int? {
        let entry = Entry(
            parent: parent,
            kind: kind,
            name: name,
            attempt: context.attempt,
            hop: context.hop,
            start: start,
            end: end
        )
        return state.withLock { state in
            // An analysis reads and drops the spans of each call.
            guard cost != nil || state.entries.count < Self.maximumCount else {
                state.droppedCount += 1
                return nil
            }
            state.entries.append(entry)
            if settings.isAnalysis { state.costs.append(cost) }
            return state.entries.count - 1
        }
    }

    /// Ends a span; returns `false` if it has ended before.
    @discardableResult
    func end(_ id: Int?, _ outcome: @autoclosure () -> String? = nil) -> Bool {
        guard let id else { return false }
        if settings.isAnalysis { return endCost(id) }
        let now = clock.now
        let outcome = outcome()
        return state.withLock { state in
            guard state.entries[id].end == nil else { return false }
            state.entries[id].end = now
            state.entries[id].outcome = outcome
            return true
        }
    }

    private func endCost(_ id: Int) -> Bool {
        let inner = settings.firstReading()
        let hasEnded = state.withLock { state in
            guard state.entries[id].end == nil else { return false }
            state.entries[id].end = inner.time
            state.costs[id]?.innerEnd = inner
            return true
        }
        let outer = settings.lastReading()
        state.withLock { $0.costs[id]?.outerEnd = outer }
        return hasEnded
    }

    /// Ends the span of the whole call.
    func endCall(_ error: PipelineError?, _ statusCode: Int?) {
        end(0, error?.code.rawValue ?? statusCode.map { "\($0)" })
    }

    /// Returns the outcome of a span that ended with an error: its code, or its type.
    static func outcome(of error: any Error) -> String {
        if let error = error as? PipelineError { return error.code.rawValue }
        return error is CancellationError ? PipelineError.Code.cancelled.rawValue : "\(type(of: error))"
    }

    var droppedSpanCount: Int { state.withLock { $0.droppedCount } }

    var entries: [Entry] { state.withLock { $0.entries } }

    /// What the spans of an analysis have cost, in the order of ``entries``.
    var costs: [SpanCost?] { state.withLock { $0.costs } }

    /// Returns the text of a name.
    func text(of name: Name) -> String {
        switch name {
        case .text(let text): text
        case .type(let type): "\(type)"
        case .request(let request): "\(request)"
        case .endpoint: endpoint.emptyRequest.map { "\($0)" } ?? endpoint.method.rawValue
        }
    }

    var spans: [Timeline.Span] {
        let now = clock.now
        return entries.enumerated().map { id, entry in
            Timeline.Span(
                id: id,
                parentID: entry.parent,
                kind: entry.kind,
                name: text(of: entry.name),
                attempt: entry.attempt,
                hop: entry.hop,
                start: start.duration(to: entry.start),
                duration: entry.start.duration(to: entry.end ?? now),
                hasEnded: entry.end != nil,
                outcome: entry.outcome
            )
        }
    }
}
