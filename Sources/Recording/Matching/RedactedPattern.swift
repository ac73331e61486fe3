import Foundation
import PipelineCore

/// A comparison of a redacted text with another text: the placeholder matches any text without certain bytes.
enum RedactedPattern {
    private static let placeholder = Data(RecordingRedaction.placeholder.utf8)

    /// Returns whether a text contains the placeholder.
    static func isPattern(_ text: Data) -> Bool { text.firstRange(of: placeholder) != nil }

    /// Returns whether two texts are equal, or one matches the other with its redacted values.
    ///
    /// - Parameters:
    ///   - first: a text.
    ///   - second: a text.
    ///   - separators: bytes that a redacted value cannot contain.
    /// - Returns: whether they are alike.
    static func areAlike(_ first: [UInt8], _ second: [UInt8], separators: [UInt8]) -> Bool {
        if first == second { return true }
        let (first, second) = (Data(first), Data(second))
        return matches(second, pattern: first, separators) || matches(first, pattern: second, separators)
    }

    /// Returns whether the texts of two lists can be paired so that those of each pair are alike, in any order.
    static func areAlike(_ first: [String], _ second: [String], separators: [UInt8]) -> Bool {
        guard first.count == second.count else { return false }
        var rest = second
        var unpaired: [String] = []
        for text in first {
            if let index = rest.firstIndex(of: text) { rest.remove(at: index) } else { unpaired.append(text) }
        }
        for text in unpaired {
            let index = rest.firstIndex { areAlike(Array(text.utf8), Array($0.utf8), separators: separators) }
            guard let index else { return false }
            rest.remove(at: index)
        }
        return true
    }

    private static func matches(_ text: Data, pattern: Data, _ separators: [UInt8]) -> Bool {
        var literals: [Data] = []
        var rest = pattern
        while let found = rest.firstRange(of: placeholder) {
            literals.append(rest[..<found.lowerBound])
            rest = rest[found.upperBound...]
        }
        guard let first = literals.first, text.starts(with: first) else { return false }
        var place = text.startIndex + first.count
        for literal in literals.dropFirst() {
            let start = place + 1
            guard start <= text.endIndex else { return false }
            let found = literal.isEmpty ? start..<start : text[start...].firstRange(of: literal)
            guard let found, isValue(text[place..<found.lowerBound], separators) else { return false }
            place = found.upperBound
        }
        let end = text.endIndex - rest.count
        return end > place && text[end...].elementsEqual(rest) && isValue(text[place..<end], separators)
    }

    private static func isValue(_ bytes: Data, _ separators: [UInt8]) -> Bool {
        !bytes.contains { separators.contains($0) }
    }
}
