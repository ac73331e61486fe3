import Foundation
import Pipeline

/// Why no entry answers a request, part by part.
struct Mismatch {
    let playback: Playback
    let mode: RecordingMode
    let live: MatchedRequest

    func error(isUsedUp: Bool) -> PipelineError {
        let file = playback.url.lastPathComponent.quotedExcerpt
        let request = "\(live.request.method) \(Self.excerpt(live.request.url))"
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
        let prints = live.fingerprints(playback.kinds)
        let scored = playback.entries.enumerated().map { index, entry -> (index: Int, equal: Int, prefix: Int) in
            let equal = zip(prints, playback.fingerprints[index]).count { $0 == $1 }
            let path = URLParts(entry.url).path
            return (index, equal, zip(path.utf8, live.path.utf8).prefix { $0 == $1 }.count)
        }
        return scored.sorted { ($1.equal, $1.prefix, $0.index) < ($0.equal, $0.prefix, $1.index) }.prefix(3).map(
            \.index
        )
    }

    private func description(of index: Int) -> String {
        let entry = playback.entries[index]
        let use = playback.isUsed(index) ? ", used" : ""
        guard let recorded = try? playback.matched(entry: index) else { return "entry \(entry.index): cannot be read" }
        let recordedPrints = recorded.fingerprints(playback.kinds)
        var prints = zip(live.fingerprints(playback.kinds), recordedPrints).makeIterator()
        let parts = playback.kinds.map { kind in
            if kind.isClosure {
                return "\(kind.name) \(kind.closureAccepts(live, recorded) ? "ok" : "differs")"
            }
            guard let (wanted, found) = prints.next(), wanted != found else { return "\(kind.name) ok" }
            let (sent, stored) = (live.shown(kind), recorded.shown(kind))
            return "\(kind.name) differs (sent \(Self.excerpt(sent)), recorded \(Self.excerpt(stored)))"
        }
        return
            "entry \(entry.index)\(use), \(entry.method) \(Self.excerpt(entry.url)): \(parts.joined(separator: ", "))"
    }

    private static func excerpt(_ text: String) -> String {
        let shown = text.prefix(excerptLength).debugDescription
        return text.count > excerptLength ? shown + "…" : shown
    }

    private static let excerptLength = 160
}
