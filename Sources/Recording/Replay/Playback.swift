package import Foundation
import HTTPTypes
package import PipelineCore
import Synchronization

/// The entries of a file, found by request and each replayed once.
final class Playback: Sendable {
    /// The rules for comparing a request and replaying an entry.
    struct Rules: Sendable {
        var matching: RequestMatching
        var end: ReplayEnd
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
    /// `nil` for a transport that only replays.
    let mode: RecordingMode?
    let file: HARFile
    let rules: Rules
    let kinds: [RequestMatching.Part.Kind]
    /// The entries that can be read.
    let entries: [HARRecording.Entry]
    private let unreadable: [String]
    let summaries: [MatchedRequest.Summary]
    private let candidates: [[MatchedRequest.Fingerprint]: [Int]]
    private let state: Mutex<State>
    /// The lane in which the file is read.
    let lane = FileLane()
    /// The time of the recorded session.
    let clock: ReplayClock
    /// The clock and the random numbers of the recorded session.
    let configuration: ProviderConfiguration

    /// - Throws: `.recording(.corrupt)` if an entry cannot be read, unless such entries are skipped.
    init(_ file: HARFile, at url: URL, mode: RecordingMode? = nil, _ rules: Rules) throws {
        self.url = url
        self.mode = mode
        self.file = file
        self.rules = rules
        kinds = rules.kinds
        var entries: [HARRecording.Entry] = []
        var unreadable: [String] = []
        var summaries: [MatchedRequest.Summary] = []
        var candidates: [[MatchedRequest.Fingerprint]: [Int]] = [:]
        var start: Date?
        for index in 0..<file.count {
            let exchange: RecordedExchange
            do {
                exchange = try file.exchange(at: index)
            } catch let error as PipelineError {
                guard rules.skipsUnreadable else { throw Self.hinting(error) }
                unreadable.append(error.reason)
                continue
            }
            let request = Self.matched(exchange.request, rules)
            let summary = request.summary(kinds)
            candidates[summary.fingerprints, default: []].append(entries.count)
            summaries.append(summary)
            start = [start, exchange.start].compactMap(\.self).min()
            entries.append(
                HARRecording.Entry(
                    index: index,
                    method: request.request.method,
                    url: request.request.url,
                    start: exchange.start
                )
            )
        }
        self.entries = entries
        self.unreadable = unreadable
        self.summaries = summaries
        self.candidates = candidates
        state = Mutex(State(sequence: SequenceState(count: entries.count)))
        clock = ReplayClock(startingAt: start.map { .init($0) })
        configuration = ProviderConfiguration(clock: clock, random: .seeded(file.randomSeed ?? 0))
    }

    private static func matched(_ request: RecordedExchange.Request, _ rules: Rules) -> MatchedRequest {
        MatchedRequest(rules.redaction.request(CodedBody.decoded(request, upTo: rules.bodyByteCount)))
    }

    private static func hinting(_ error: PipelineError) -> PipelineError {
        PipelineError(
            error.code,
            error.reason + "; ReplayTransport(skipsUnreadable: true) leaves out entries that cannot be read",
            underlyingError: error.underlyingError
        )
    }

    // MARK: Requests

    func matched(entry index: Int) throws -> MatchedRequest {
        Self.matched(try file.exchange(at: entries[index].index).request, rules)
    }

    /// Takes the next entry for a request.
    ///
    /// The request is compared in up to three ways: with its secret names and declared values hidden; then with the
    /// values of its own secrets hidden everywhere; then with entries whose redacted text matches any value.
    ///
    /// - Returns: the index of the entry; `nil` if there is none, with the entries that match and have been used.
    /// - Throws: `.recording(.corrupt)`.
    func take(_ live: LiveRequest) async throws -> (entry: Int?, used: [Int]) {
        let summary = live.byNames.summary(kinds)
        // Without closures, entries that are alike need not be read.
        if !kinds.contains(where: \.isClosure), let alike = candidates[summary.fingerprints] {
            return take(oneOf: alike)
        }
        return try await lane.run { [self] in try takeReading(live, summary) }
    }

    private func takeReading(
        _ live: LiveRequest,
        _ summary: MatchedRequest.Summary
    ) throws -> (entry: Int?, used: [Int]) {
        let closures = kinds.filter(\.isClosure)
        func accepted(_ alike: [Int], _ request: MatchedRequest) throws -> [Int] {
            guard !closures.isEmpty else { return alike }
            return try alike.filter { index in
                let recorded = try matched(entry: index)
                return closures.allSatisfy { $0.closureAccepts(request, recorded) }
            }
        }
        var chosen = try accepted(candidates[summary.fingerprints] ?? [], live.byNames)
        if chosen.isEmpty, let request = live.byValues {
            chosen = try accepted(candidates[request.summary(kinds).fingerprints] ?? [], request)
        }
        if chosen.isEmpty { chosen = try accepted(try resembling(live.byNames, summary), live.byNames) }
        return chosen.isEmpty ? (nil, []) : take(oneOf: chosen)
    }

    private func take(oneOf chosen: [Int]) -> (entry: Int?, used: [Int]) {
        let index = state.withLock { $0.sequence.take(chosen, atEnd: rules.end) }
        return (index, index == nil ? chosen : [])
    }

    /// Returns the entries that differ from a request only in redacted text.
    private func resembling(_ live: MatchedRequest, _ summary: MatchedRequest.Summary) throws -> [Int] {
        let compared = kinds.filter { !$0.isClosure }
        return try entries.indices.filter { index in
            let stored = summaries[index]
            let patterns = stored.patterns | summary.patterns
            guard patterns != 0 else { return false }
            let differing = compared.indices.filter { summary.fingerprints[$0] != stored.fingerprints[$0] }
            guard differing.allSatisfy({ patterns >> UInt64($0) & 1 == 1 }) else { return false }
            let recorded = try matched(entry: index)
            return differing.allSatisfy { live.resembles(recorded, in: compared[$0]) }
        }
    }

    /// Returns whether the file contains the same request, in its stored form.
    func holds(_ request: RecordedExchange.Request) -> Bool {
        let stored = Self.matched(request, rules)
        let standard = RequestMatching.standard.parts.flatMap(\.kinds)
        let identity = stored.summary(standard).fingerprints
        return (candidates[stored.summary(kinds).fingerprints] ?? []).contains { index in
            guard let recorded = try? matched(entry: index) else { return false }
            return recorded.summary(standard).fingerprints == identity
                && kinds.allSatisfy { $0.closureAccepts(stored, recorded) }
        }
    }

    func isUsed(_ index: Int) -> Bool { state.withLock { $0.sequence.isUsed(index) } }

    // MARK: Responses

    enum Answer {
        case entry(Int)
        /// An entry that is too old and must be replaced.
        case expired(Int)
        /// No entry matches, or all that match have been used.
        case miss(isUsedUp: Bool, () async -> PipelineError)
    }

    /// Takes the entry for a request.
    ///
    /// - Returns: the result, and the request. If the body was read and cannot be replayed, the request has it in
    ///   memory.
    /// - Throws: `.recording(.expired)`, `limit.bodyBytes`, `CancellationError`.
    func answer(
        to request: PipelineRequest,
        _ context: PipelineContext,
        canRecord: Bool
    ) async throws -> (Answer, PipelineRequest) {
        try Task.checkCancellation()
        var request = request
        var body = request.body.isAbsent ? nil : request.body.bytes
        if rules.readsBody, body == nil, !request.body.isAbsent {
            let read = try await request.body.collect(upTo: rules.bodyByteCount)
            if !request.body.isReplayable { request.body = .bytes(read) }
            body = read
        }
        let live = LiveRequest(request, body: body, rules)
        let taken = try await take(live)
        guard let index = taken.entry else {
            let mismatch = Mismatch(playback: self, live: live)
            return (.miss(isUsedUp: !taken.used.isEmpty) { await mismatch.error(used: taken.used) }, request)
        }
        return (try checkAge(of: index, context, canRecord: canRecord), request)
    }

    private func checkAge(of index: Int, _ context: PipelineContext, canRecord: Bool) throws -> Answer {
        let entry = entries[index]
        // The clock of the recorded session shows the date of the entry.
        let date = context.clock.isSame(as: configuration.clock) ? Date() : context.clock.date
        switch rules.expiry.action(for: entry, at: date) {
        case .none: return .entry(index)
        case .warn(let report):
            state.withLock { _ = $0.expired.insert(index) }
            report(entry)
            return .entry(index)
        case .rerecord where canRecord: return .expired(index)
        case .fail, .rerecord: throw expired(index)
        }
    }

    func expired(_ index: Int) -> PipelineError {
        let mode = mode.map { " (mode \($0))" } ?? ""
        return PipelineError(
            .recording(.expired),
            "\(entries[index]) of \(url.lastPathComponent.quotedExcerpt) is too old\(mode); record it again, or change `expiry`"
        )
    }

    /// Responds to a request with an entry, and notes in the context if no time passes.
    func answer(_ index: Int, to request: PipelineRequest, _ context: PipelineContext) async throws -> PipelineResponse
    {
        let exchange = try await lane.run { [file, number = entries[index].index] in
            try file.replayableExchange(at: number)
        }
        context.report(.replayed(rules.pace.factor == 0))
        var replayed = ReplayedResponse(exchange, rules.pace, byteLimit: rules.bodyByteCount)
        let start = clock.begin(at: exchange.start.map { .init($0) })
        defer { clock.advance(to: start.advanced(by: exchange.duration)) }
        return try await replayed.response(to: request, context)
    }

    var recording: HARRecording {
        let (unused, expired) = state.withLock { ($0.sequence.unused, $0.expired.sorted()) }
        return HARRecording(
            fileName: url.lastPathComponent,
            entries: entries,
            unused: unused.map { entries[$0] },
            expired: expired.map { entries[$0] },
            unreadable: unreadable
        )
    }
}

extension RecordedExchange.Request {
    package init(_ request: PipelineRequest, body: Data?) {
        let head = request.head
        self.init(
            method: head.method.rawValue,
            url: "\(head.scheme ?? "")://\(head.authority ?? "")\(head.path ?? "")",
            headers: head.headerFields,
            body: body
        )
    }
}
