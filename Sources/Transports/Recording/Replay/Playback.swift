import Foundation
import HTTPTypes
import Pipeline
import Synchronization

/// The entries of a file, found by request and handed out once each.
final class Playback: Sendable {
    /// How a request is compared and answered.
    struct Rules: Sendable {
        var matching: RequestMatching
        var end: SequenceEnd
        var pace: ReplayPace
        var redaction: RecordingRedaction
        var expiry: RecordingExpiry
        var bodyByteCount: Int
        var skipsUnreadable = false

        var kinds: [RequestMatching.Part.Kind] { matching.parts.flatMap(\.kinds) }
        var readsBody: Bool { kinds.contains(where: \.readsBody) }
    }

    private struct State {
        var sequence: SequenceState
        var expired: Set<Int> = []
    }

    let url: URL
    let file: HARFile
    let rules: Rules
    let kinds: [RequestMatching.Part.Kind]
    /// Those that can be read.
    let entries: [Recording.Entry]
    private let unreadable: [String]
    /// Of each of them, part by part.
    let fingerprints: [[MatchedRequest.Fingerprint]]
    private let candidates: [[MatchedRequest.Fingerprint]: [Int]]
    private let state: Mutex<State>

    /// - Throws: `.recording(.corrupt)` for an entry that cannot be read, unless such are left out.
    init(_ file: HARFile, at url: URL, _ rules: Rules) throws {
        self.url = url
        self.file = file
        self.rules = rules
        kinds = rules.kinds
        var entries: [Recording.Entry] = []
        var unreadable: [String] = []
        var fingerprints: [[MatchedRequest.Fingerprint]] = []
        var candidates: [[MatchedRequest.Fingerprint]: [Int]] = [:]
        for index in 0..<file.count {
            let exchange: RecordedExchange
            do {
                exchange = try file.exchange(at: index)
            } catch let error as PipelineError where rules.skipsUnreadable {
                unreadable.append(error.reason)
                continue
            }
            let request = Self.matched(exchange.request, rules)
            let prints = request.fingerprints(kinds)
            candidates[prints, default: []].append(entries.count)
            fingerprints.append(prints)
            entries.append(
                Recording.Entry(
                    index: index,
                    method: request.request.method,
                    url: request.request.url,
                    start: exchange.start
                )
            )
        }
        self.entries = entries
        self.unreadable = unreadable
        self.fingerprints = fingerprints
        self.candidates = candidates
        state = Mutex(State(sequence: SequenceState(count: entries.count)))
    }

    private static func matched(_ request: RecordedExchange.Request, _ rules: Rules) -> MatchedRequest {
        MatchedRequest(rules.redaction.request(CodedBody.decoded(request, upTo: rules.bodyByteCount)))
    }

    // MARK: Requests

    /// A live request as it is compared.
    func matched(_ request: PipelineRequest, body: Data?) -> MatchedRequest {
        let live = RecordedExchange.Request(request, body: body)
        let redaction = rules.redaction.adding(secretValues: rules.redaction.values(of: request))
        return MatchedRequest(
            redaction.request(CodedBody.decoded(live, upTo: rules.bodyByteCount), secretFields: request.secretFields)
        )
    }

    func matched(entry index: Int) throws -> MatchedRequest {
        Self.matched(try file.exchange(at: entries[index].index).request, rules)
    }

    /// Takes the next entry that answers a request.
    ///
    /// - Returns: its index; `nil` with `isUsedUp` for none.
    /// - Throws: `.recording(.corrupt)`.
    func take(_ live: MatchedRequest) throws -> (entry: Int?, isUsedUp: Bool) {
        let alike = candidates[live.fingerprints(kinds)] ?? []
        let closures = kinds.filter(\.isClosure)
        var chosen = alike
        if !closures.isEmpty {
            chosen = try alike.filter { index in
                let recorded = try matched(entry: index)
                return closures.allSatisfy { $0.closureAccepts(live, recorded) }
            }
        }
        guard !chosen.isEmpty else { return (nil, false) }
        let answer = state.withLock { state in
            closures.isEmpty
                ? state.sequence.take(chosen, atEnd: rules.end) : state.sequence.takeChosen(chosen, atEnd: rules.end)
        }
        guard case .entry(let index) = answer else { return (nil, true) }
        return (index, false)
    }

    func isUsed(_ index: Int) -> Bool { state.withLock { $0.sequence.isUsed(index) } }

    func noteExpired(_ index: Int) { state.withLock { _ = $0.expired.insert(index) } }

    /// Answers a request with an entry.
    func answer(_ index: Int, to request: PipelineRequest, _ context: PipelineContext) async throws -> PipelineResponse
    {
        let exchange = try file.exchange(at: entries[index].index)
        let replayed = ReplayedResponse(exchange, rules.pace, byteLimit: rules.bodyByteCount)
        return try await replayed.response(to: request, context)
    }

    var recording: Recording {
        let (unused, expired) = state.withLock { ($0.sequence.unused, $0.expired.sorted()) }
        return Recording(
            fileName: url.lastPathComponent,
            entries: entries,
            unused: unused.map { entries[$0] },
            expired: expired.map { entries[$0] },
            unreadable: unreadable
        )
    }
}

extension RecordedExchange.Request {
    init(_ request: PipelineRequest, body: Data?) {
        let head = request.head
        self.init(
            method: head.method.rawValue,
            url: "\(head.scheme ?? "")://\(head.authority ?? "")\(head.path ?? "")",
            headers: head.headerFields,
            body: body
        )
    }
}
