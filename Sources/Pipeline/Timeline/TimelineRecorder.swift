import HTTPTypes
import Synchronization

/// The timeline of one call while it is recorded.
final class TimelineRecorder: Sendable {
    /// A span; its end is `nil` until it has ended.
    private struct Entry {
        let parent: Int?
        let kind: Timeline.Span.Kind
        let name: Name
        let attempt: Int
        let hop: Int
        let start: PipelineClock.Instant
        var end: PipelineClock.Instant?
        var outcome: String?
    }

    /// A name that is made when it is read.
    enum Name: Sendable {
        case text(String)
        case request(PipelineRequest)
        case endpoint(Endpoint)

        var text: String {
            switch self {
            case .text(let text): text
            case .request(let request): "\(request)"
            case .endpoint(let endpoint): endpoint.emptyRequest.map { "\($0)" } ?? endpoint.method.rawValue
            }
        }
    }

    private struct State {
        var entries: [Entry]
        var droppedCount = 0
    }

    private static let maximumCount = 1_000
    private let clock: PipelineClock
    private let start: PipelineClock.Instant
    private let state: Mutex<State>

    init(_ endpoint: Endpoint, _ clock: PipelineClock, from start: PipelineClock.Instant) {
        self.clock = clock
        self.start = start
        let call = Entry(parent: nil, kind: .call, name: .endpoint(endpoint), attempt: 1, hop: 0, start: start)
        state = Mutex(State(entries: [call]))
    }

    /// Begins a span inside the one of a context; returns its number, or `nil` if there are too many.
    func begin(_ kind: Timeline.Span.Kind, _ name: Name, _ context: PipelineContext) -> Int? {
        add(kind, name, in: context.span, context, from: clock.now, to: nil)
    }

    /// Adds a span; returns its number, or `nil` if there are too many.
    @discardableResult
    func add(
        _ kind: Timeline.Span.Kind,
        _ name: Name,
        in parent: Int,
        _ context: PipelineContext,
        from start: PipelineClock.Instant,
        to end: PipelineClock.Instant?
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
            guard state.entries.count < Self.maximumCount else {
                state.droppedCount += 1
                return nil
            }
            state.entries.append(entry)
            return state.entries.count - 1
        }
    }

    /// Ends a span; returns `false` if it has ended before.
    @discardableResult
    func end(_ id: Int?, _ outcome: @autoclosure () -> String? = nil) -> Bool {
        guard let id else { return false }
        let now = clock.now
        let outcome = outcome()
        return state.withLock { state in
            guard state.entries[id].end == nil else { return false }
            state.entries[id].end = now
            state.entries[id].outcome = outcome
            return true
        }
    }

    /// Ends the span of the whole call.
    func endCall(_ error: PipelineError?, _ statusCode: Int?) {
        end(0, error.map(\.code.rawValue) ?? statusCode.map(String.init))
    }

    var droppedSpanCount: Int { state.withLock { $0.droppedCount } }

    var spans: [Timeline.Span] {
        let now = clock.now
        return state.withLock { $0.entries }.enumerated().map { id, entry in
            Timeline.Span(
                id: id,
                parentID: entry.parent,
                kind: entry.kind,
                name: entry.name.text,
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
