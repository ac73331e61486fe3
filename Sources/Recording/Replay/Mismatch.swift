import Foundation
import Pipeline

/// Why no entry answers a request, part by part.
struct Mismatch: Sendable {
    let playback: Playback
    let mode: RecordingMode
    let live: LiveRequest

    /// The error that says so; the nearest entries are read for it.
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
            lines = ["each entry of \(file) that matches \(request) has been used (mode \(mode))"]
            lines.append("to answer again: atEnd .repeatLast or .cycle; \(Self.howToRecord)")
            return PipelineError(.recording(.usedUp), lines.joined(separator: "\n"))
        }
        lines = ["no entry of \(file) matches \(request) (mode \(mode), \(playback.entries.count) entries)"]
        lines += nearest.map(description)
        lines.append(Self.howToRecord)
        return PipelineError(.recording(.noMatch), lines.joined(separator: "\n"))
    }

    private static let howToRecord =
        "to record it: RecordingTransport with mode .newEpisodes, or \(RecordingMode.environmentVariable)=newEpisodes"

    /// The three entries with the most equal parts, and of those the ones whose path begins alike.
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
        let parts = playback.kinds.map { kind in
            if kind.isClosure {
                return "\(kind.name) \(kind.closureAccepts(live.byNames, recorded) ? "ok" : "differs")"
            }
            guard let (wanted, found) = prints.next(), wanted != found, !live.byNames.resembles(recorded, in: kind)
            else { return "\(kind.name) ok" }
            let texts = [sent.shown(kind), shown.shown(kind)].map { Self.excerpt($0, hiding) }
            return "\(kind.name) differs (sent \(texts[0]), recorded \(texts[1]))"
        }
        let place = "\(entry.method) \(Self.excerpt(shown.request.url, hiding))"
        return "entry \(entry.index)\(use), \(place): \(parts.joined(separator: ", "))"
    }

    /// Secrets are hidden before the text is cut.
    private static func excerpt(_ text: String, _ hiding: RecordingRedaction) -> String {
        let text = hiding.values(in: text)
        let shown = text.prefix(excerptLength).debugDescription
        return text.count > excerptLength ? shown + "…" : shown
    }

    private static let excerptLength = 160
}
