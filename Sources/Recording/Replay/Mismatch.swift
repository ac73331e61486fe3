import Foundation
import Pipeline

/// Why no entry can be replayed for a request: what differs from the nearest entries.
struct Mismatch: Sendable {
    let playback: Playback
    let mode: RecordingMode
    let live: LiveRequest

    /// The error; the nearest entries are read for it.
    func error(isUsedUp: Bool) async -> PipelineError {
        do {
            return try await playback.lane.run { makeError(isUsedUp: isUsedUp) }
        } catch {
            return PipelineError(.cancelled, "the call was cancelled")
        }
    }

    private func makeError(isUsedUp: Bool) -> PipelineError {
        let file = playback.url.lastPathComponent.quotedExcerpt
        let hiding = live.hiding()
        let sent = live.shown(hiding).request
        let request = "\(hiding.values(in: sent.method)) \(Self.excerpt(sent.url, hiding))"
        var lines: [String]
        if isUsedUp {
            lines = ["every entry of \(file) that matches \(request) has been used (mode \(mode))"]
            lines.append("to replay entries more than once, use atEnd .repeatLast or .cycle; \(Self.howToRecord)")
            return PipelineError(.recording(.usedUp), lines.joined(separator: "\n"))
        }
        let count = playback.entries.count
        let entries = count == 1 ? "1 entry" : "\(count) entries"
        lines = ["no entry of \(file) matches \(request) (mode \(mode), \(entries))"]
        lines += nearest.map(description)
        lines.append(Self.howToRecord)
        return PipelineError(.recording(.noMatch), lines.joined(separator: "\n"))
    }

    private static let howToRecord =
        "to record the request, use mode .recordNew or \(RecordingMode.environmentVariable)=recordNew"

    /// The three entries with the most equal parts; among equals, those whose path has the longest common beginning.
    private var nearest: [Int] {
        let prints = live.byNames.summary(playback.kinds).fingerprints
        let scored = playback.entries.enumerated().map { index, entry -> (index: Int, equal: Int, prefix: Int) in
            let equal = zip(prints, playback.fingerprints[index]).count { $0 == $1 }
            let path = URLParts(entry.url).path
            return (index, equal, zip(path.utf8, live.byNames.path.utf8).prefix { $0 == $1 }.count)
        }
        return scored.sorted { ($1.equal, $1.prefix, $0.index) < ($0.equal, $0.prefix, $1.index) }.prefix(3).map(
            \.index
        )
    }

    /// One line with the parts that differ.
    private func description(of index: Int) -> String {
        let entry = playback.entries[index]
        let use = playback.isUsed(index) ? ", used" : ""
        guard let stored = try? playback.file.exchange(at: entry.index).request,
            let recorded = try? playback.matched(entry: index)
        else { return "entry \(entry.index): cannot be read" }
        let hiding = live.hiding([stored])
        let (sent, shown) = (live.shown(hiding), MatchedRequest(hiding.request(recorded.request)))
        let recordedPrints = recorded.summary(playback.kinds).fingerprints
        var prints = zip(live.byNames.summary(playback.kinds).fingerprints, recordedPrints).makeIterator()
        let parts = playback.kinds.compactMap { kind -> String? in
            if kind.isClosure {
                return kind.closureAccepts(live.byNames, recorded) ? nil : "\(kind.name) differs"
            }
            guard let (wanted, found) = prints.next(), wanted != found, !live.byNames.resembles(recorded, in: kind)
            else { return nil }
            let texts = Self.excerpts(sent.shown(kind), shown.shown(kind), hiding)
            return "\(kind.name) differs (sent \(texts.sent), recorded \(texts.recorded))"
        }
        let place = "\(entry.method) \(Self.excerpt(shown.request.url, hiding))"
        return
            "entry \(entry.index)\(use), \(place): \(parts.isEmpty ? "no part differs" : parts.joined(separator: ", "))"
    }

    /// Two texts, each from shortly before the place where they begin to differ.
    private static func excerpts(
        _ sent: String,
        _ recorded: String,
        _ hiding: RecordingRedaction
    ) -> (sent: String, recorded: String) {
        // Secrets are hidden before a text is cut, so that no part of one is left.
        let (sent, recorded) = (hiding.values(in: sent), hiding.values(in: recorded))
        let common = zip(sent, recorded).prefix { $0 == $1 }.count
        let start = max(sent.count, recorded.count) > excerptLength ? max(0, common - contextLength) : 0
        return (cut(sent, from: start), cut(recorded, from: start))
    }

    private static func excerpt(_ text: String, _ hiding: RecordingRedaction) -> String {
        cut(hiding.values(in: text), from: 0)
    }

    private static func cut(_ text: String, from start: Int) -> String {
        let rest = text.dropFirst(start)
        let shown = rest.prefix(excerptLength).debugDescription
        return (start > 0 ? "…" : "") + shown + (rest.count > excerptLength ? "…" : "")
    }

    private static let excerptLength = 80
    private static let contextLength = 16
}
