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
    let file: HARFile
    let rules: Rules
    let kinds: [RequestMatching.Part.Kind]
    /// The entries that can be read.
    let entries: [HARRecording.Entry]
    private let unreadable: [String]
    /// The fingerprints of each entry, one for each part.
    let fingerprints: [[MatchedRequest.Fingerprint]]
    /// The parts of each entry that contain redacted text, one bit for each part.
    private let patterns: [UInt64]
    private let candidates: [[MatchedRequest.Fingerprint]: [Int]]
    private let state: Mutex<State>
    /// The lane in which the file is read.
    let lane = FileLane()
    /// The time of the recorded session.
    let clock: ReplayClock
    /// The clock and the random numbers of the recorded session.
    let configuration: ProviderConfiguration

    /// - Throws: `.recording(.corrupt)` if an entry cannot be read, unless such entries are skipped.
    init(_ file: HARFile, at url: URL, _ rules: Rules) throws {
        self.url = url
        self.file = file
        self.rules = rules
        kinds = rules.kinds
        var entries: [HARRecording.Entry] = []
        var unreadable: [String] = []
        var fingerprints: [[MatchedRequest.Fingerprint]] = []
        var patterns: [UInt64] = []
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
            fingerprints.append(summary.fingerprints)
            patterns.append(summary.patterns)
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
        self.fingerprints = fingerprints
        self.patterns = patterns
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
            return take(oneOf: alike, isStable: true)
        }
        return try await lane.run { [self] in try takeReading(live, summary) }
    }

    private func takeReading(
        _ live: LiveRequest,
        _ summary: (fingerprints: [MatchedRequest.Fingerprint], patterns: UInt64)
    ) throws -> (entry: Int?, used: [Int]) {
        let closures = kinds.filter(\.isClosure)
        func accepted(_ alike: [Int], _ request: MatchedRequest) throws -> [Int] {
            guard !closures.isEmpty else { return alike }
            return try alike.filter { index in
                let recorded = try matched(entry: index)
                return closures.allSatisfy { $0.closureAccepts(request, recorded) }
            }
        }
        let (byNames, livePatterns) = summary
        var chosen = try accepted(candidates[byNames] ?? [], live.byNames)
        if chosen.isEmpty, let request = live.byValues {
            chosen = try accepted(candidates[request.summary(kinds).fingerprints] ?? [], request)
        }
        var isStable = closures.isEmpty
        if chosen.isEmpty {
            isStable = false
            chosen = try accepted(try resembling(live.byNames, byNames, livePatterns), live.byNames)
        }
        guard !chosen.isEmpty else { return (nil, []) }
        return take(oneOf: chosen, isStable: isStable)
    }

    private func take(oneOf chosen: [Int], isStable: Bool) -> (entry: Int?, used: [Int]) {
        let answer = state.withLock { state in
            isStable
                ? state.sequence.take(chosen, atEnd: rules.end) : state.sequence.takeChosen(chosen, atEnd: rules.end)
        }
        guard case .entry(let index) = answer else { return (nil, chosen) }
        return (index, [])
    }

    /// Returns the entries that differ from a request only in redacted text.
    private func resembling(
        _ live: MatchedRequest,
        _ fingerprints: [MatchedRequest.Fingerprint],
        _ livePatterns: UInt64
    ) throws -> [Int] {
        let compared = kinds.filter { !$0.isClosure }
        return try entries.indices.filter { index in
            let patterns = patterns[index] | livePatterns
            guard patterns != 0 else { return false }
            let differing = fingerprints.indices.filter { fingerprints[$0] != self.fingerprints[index][$0] }
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

    func noteExpired(_ index: Int) { state.withLock { _ = $0.expired.insert(index) } }

    /// Responds to a request with an entry, and notes in the context if no time passes.
    func answer(_ index: Int, to request: PipelineRequest, _ context: PipelineContext) async throws -> PipelineResponse
    {
        let exchange = try await lane.run { [file, number = entries[index].index] in
            try file.replayableExchange(at: number)
        }
        context.report(.replayed(rules.pace.factor == 0))
        let replayed = ReplayedResponse(exchange, rules.pace, byteLimit: rules.bodyByteCount)
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
