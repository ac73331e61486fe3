import Foundation
import PipelineCore

/// The reason why no entry can be replayed for a request: the differences from the nearest entries.
struct Mismatch: Sendable {
    let playback: Playback
    let live: LiveRequest

    private var mode: RecordingMode? { playback.mode }

    /// Creates the error.
    ///
    /// Reads the nearest entries.
    ///
    /// - Parameter used: the entries that match and have been used.
    /// - Returns: the error.
    func error(used: [Int]) async -> PipelineError {
        do {
            return try await playback.lane.run { makeError(used) }
        } catch {
            return PipelineError(.cancelled, "the call was cancelled")
        }
    }

    /// Creates the error.
    ///
    /// The last line is about entries, because the description of an error appends to it.
    private func makeError(_ used: [Int]) -> PipelineError {
        let file = playback.url.lastPathComponent.quotedExcerpt
        let hiding = live.hiding()
        let sent = live.shown(hiding).request
        let request = "\(hiding.values(in: sent.method)) \(Excerpts(hiding: hiding).beginning(of: sent.url))"
        if !used.isEmpty {
            let mode = mode.map { " (mode \($0))" } ?? ""
            let shown = used.prefix(Self.usedCount).map { "\(playback.entries[$0].index)" }.joined(separator: ", ")
            let rest = used.count - Self.usedCount
            let lines = [
                "every entry of \(file) that matches \(request) has been used\(mode)",
                "to replay entries more than once, use atEnd .repeatLast or .cycle; \(howToRecord)",
                "used: \(used.count == 1 ? "entry" : "entries") \(shown)\(rest > 0 ? " and \(rest) more" : "")",
            ]
            return PipelineError(.recording(.usedUp), lines.joined(separator: "\n"))
        }
        let count = playback.entries.count
        let facts = (mode.map { "mode \($0), " } ?? "") + (count == 1 ? "1 entry" : "\(count) entries")
        var lines = ["no entry of \(file) matches \(request) (\(facts))", howToRecord]
        let nearest = nearest
        if let proposal = nearest.lazy.compactMap(proposal).first { lines.append(proposal) }
        lines += count == 0 ? ["the recording is empty"] : nearest.map(description)
        return PipelineError(.recording(.noMatch), lines.joined(separator: "\n"))
    }

    private var howToRecord: String {
        let variable = "\(RecordingMode.environmentVariable)=recordAll"
        return mode == nil
            ? "to record the request, run the test with \(variable), or use a RecordingTransport in mode .recordNew"
            : "to record the request, use mode .recordNew, or \(variable) for all requests"
    }

    private static let usedCount = 10
    private static let nearestCount = 3

    /// The entries with the most equal parts.
    ///
    /// Ties are ordered by the longest common beginning of the path.
    ///
    /// If any entries have the method and the path of the request, only those are included.
    private var nearest: [Int] {
        let prints = live.byNames.summary(playback.kinds).fingerprints
        let (method, livePath) = (live.byNames.request.method, Array(live.byNames.path.utf8))
        let scored = playback.entries.enumerated().map { index, entry in
            let path = Array(URLParts(entry.url).path.utf8)
            return (
                index: index,
                isSame: entry.method == method
                    && RedactedPattern.areAlike(livePath, path, separators: [UInt8(ascii: "/")]),
                equal: zip(prints, playback.summaries[index].fingerprints).count { $0 == $1 },
                prefix: zip(path, livePath).prefix { $0 == $1 }.count
            )
        }
        let same = scored.filter(\.isSame)
        return (same.isEmpty ? scored : same)
            .sorted { ($1.equal, $1.prefix, $0.index) < ($0.equal, $0.prefix, $1.index) }
            .prefix(Self.nearestCount).map(\.index)
    }

    /// Returns the setting with which an entry would match, if it differs only in some items of the query.
    private func proposal(for index: Int) -> String? {
        guard let recorded = try? playback.matched(entry: index) else { return nil }
        let differing = playback.kinds.filter { kind in
            kind.isClosure ? !kind.closureAccepts(live.byNames, recorded) : !live.byNames.resembles(recorded, in: kind)
        }
        guard differing.count == 1, case .query(inOrder: false, let ignored) = differing[0] else { return nil }
        let names = live.byNames.namesOfDifferingItems(from: recorded, without: ignored)
        guard (1...3).contains(names.count) else { return nil }
        let list = names.map(\.quotedExcerpt).joined(separator: ", ")
        return
            "to ignore what differs from entry \(playback.entries[index].index), add .ignoring(query: [\(list)]) to the matching"
    }

    /// Returns one line with the parts that differ.
    private func description(of index: Int) -> String {
        let entry = playback.entries[index]
        let use = playback.isUsed(index) ? ", used" : ""
        guard let stored = try? playback.file.exchange(at: entry.index).request,
            let recorded = try? playback.matched(entry: index)
        else { return "entry \(entry.index): cannot be read" }
        let hiding = live.hiding([stored])
        let excerpts = Excerpts(hiding: hiding)
        let (sent, shown) = (live.shown(hiding), MatchedRequest(hiding.request(recorded.request)))
        let recordedPrints = recorded.summary(playback.kinds).fingerprints
        var prints = zip(live.byNames.summary(playback.kinds).fingerprints, recordedPrints).makeIterator()
        let parts = playback.kinds.compactMap { kind -> String? in
            if kind.isClosure {
                return kind.closureAccepts(live.byNames, recorded) ? nil : "\(kind.name) differs"
            }
            guard let (wanted, found) = prints.next(), wanted != found, !live.byNames.resembles(recorded, in: kind)
            else { return nil }
            if case .body(let form, let ignored) = kind {
                return BodyMismatch(sent: sent, recorded: shown, form: form, ignored: ignored, excerpts: excerpts)
                    .description
            }
            guard let texts = excerpts.pair(.init(sent.shown(kind)), .init(shown.shown(kind))) else {
                return "\(kind.name) differs in what is not shown"
            }
            return "\(kind.name) differs (sent \(texts.sent), recorded \(texts.recorded))"
        }
        let place = "\(RecordingTable.visible(entry.method)) \(excerpts.beginning(of: shown.request.url))"
        return
            "entry \(entry.index)\(use), \(place): \(parts.isEmpty ? "no part differs" : parts.joined(separator: ", "))"
    }
}
