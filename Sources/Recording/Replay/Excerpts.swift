import Foundation
import PipelineCore

/// Excerpts of texts for an error.
///
/// Secrets are hidden before a text is cut, so that no part of one is left.
struct Excerpts {
    /// A text that is shown in quotes with escapes, or unchanged.
    struct Text {
        let text: String
        let isQuoted: Bool

        init(_ text: String, isQuoted: Bool = true) {
            self.text = text
            self.isQuoted = isQuoted
        }
    }

    let hiding: RecordingRedaction

    private static let length = 80
    private static let contextLength = 16

    /// Returns the beginning of a text.
    func beginning(of text: String) -> String { Self.cut(hidden(Text(text)), from: 0) }

    /// Returns two texts, each from shortly before the place where they begin to differ.
    ///
    /// Returns `nil` if the difference must not be shown.
    func pair(_ sent: Text, _ recorded: Text) -> (sent: String, recorded: String)? {
        let (sent, recorded) = (hidden(sent), hidden(recorded))
        let isEqual = sent.text.utf8.elementsEqual(recorded.text.utf8) && sent.isQuoted == recorded.isQuoted
        guard !isEqual else { return nil }
        let common = zip(sent.text.utf8, recorded.text.utf8).prefix { $0 == $1 }.count
        let isLong = max(sent.text.utf8.count, recorded.text.utf8.count) > Self.length
        let start = isLong ? common : 0
        return (Self.cut(sent, from: start), Self.cut(recorded, from: start))
    }

    private func hidden(_ text: Text) -> Text { Text(hiding.values(in: text.text), isQuoted: text.isQuoted) }

    /// Cuts a text, beginning a few characters before a place in UTF-8.
    private static func cut(_ text: Text, from place: Int) -> String {
        let all = text.text
        let difference = all.utf8.index(all.startIndex, offsetBy: place)
        let start = all.index(difference, offsetBy: -contextLength, limitedBy: all.startIndex) ?? all.startIndex
        let rest = all[start...]
        let part = String(rest.prefix(length))
        let shown = text.isQuoted ? part.debugDescription : RecordingTable.visible(part)
        return (start > all.startIndex ? "…" : "") + shown + (part.utf8.count < rest.utf8.count ? "…" : "")
    }
}
