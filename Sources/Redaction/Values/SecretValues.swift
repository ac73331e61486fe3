import Foundation

/// Values that must not be seen, and the search for them in each form in which a text may contain them.
///
/// Immutable, so that copies of a redactor share it.
package final class SecretValues: Sendable {
    package let values: Set<String>
    private let automaton: SecretAutomaton
    private let longestPattern: Int

    static let minimumByteCount = 4
    /// The depth of nested escapes: JSON in a query, a URL in JSON, JSON in JSON.
    private static let escapeDepth = 2
    /// The maximum length of one byte after that many escapes: `\u005cu0041` with each character escaped.
    private static let escapedByteCount = 36

    init(_ values: Set<String>) {
        let patterns = values.flatMap { Self.patterns(of: Array($0.utf8)) }
        self.values = values
        automaton = SecretAutomaton(patterns)
        longestPattern = patterns.map(\.bytes.count).max() ?? 0
    }

    /// The maximum number of bytes that a value can occupy in a text.
    var longestForm: Int { (longestPattern + 2) * Self.escapedByteCount }

    /// Returns the value itself, and those of its base64 digits that do not depend on the surrounding text.
    private static func patterns(of value: [UInt8]) -> [SecretAutomaton.Pattern] {
        let encoded = (0..<3).map { alignment in
            let isOpen = (alignment + value.count) % 3 != 0
            let digits = Array(Data([UInt8](repeating: 0, count: alignment) + value).base64EncodedString().utf8)
            let end = (alignment + value.count) * 8 / 6
            let start = (alignment * 8 + 5) / 6
            return SecretAutomaton.Pattern(
                bytes: Array(digits[start..<end]),
                reachesBefore: alignment != 0,
                reachesBehind: isOpen
            )
        }
        return [.init(bytes: value)] + encoded
    }

    // MARK: Searching

    /// Returns whether a text contains one of the values in any form.
    func isFound(in text: UnsafeBufferPointer<UInt8>) -> Bool {
        !ranges(in: text, depth: 0, isFirstEnough: true).isEmpty
    }

    /// Returns the ranges of the values, in order; no two ranges overlap or touch.
    func ranges(in text: UnsafeBufferPointer<UInt8>) -> [Range<Int>] {
        var merged: [Range<Int>] = []
        let ranges = ranges(in: text, depth: 0, isFirstEnough: false).sorted { $0.upperBound < $1.upperBound }
        for range in ranges { merged.append(mergingLast: range) }
        return merged
    }

    private func ranges(in text: UnsafeBufferPointer<UInt8>, depth: Int, isFirstEnough: Bool) -> [Range<Int>] {
        var found = automaton.matches(in: text, isFirstEnough: isFirstEnough)
        guard depth < Self.escapeDepth else { return found }
        for escape in UnescapedText.Escape.allCases {
            if isFirstEnough, !found.isEmpty { break }
            guard let unescaped = UnescapedText(text, resolving: escape) else { continue }
            found += unescaped.bytes.withUnsafeBufferPointer {
                ranges(in: $0, depth: depth + 1, isFirstEnough: isFirstEnough).map(unescaped.source)
            }
        }
        return found
    }

    // MARK: Hiding

    /// Returns the text with the values hidden.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - limit: how many bytes of it are wanted; the rest serves only to find values that begin before the limit.
    ///   - placeholder: the text that replaces a value.
    /// - Returns: the redacted text.
    func hiding(in text: String, upTo limit: Int = .max, with placeholder: SecretPlaceholder = .shown) -> String {
        let shown = text.withBytes { hidden(in: $0, upTo: limit, with: placeholder) }
        if let shown { return String(decoding: shown, as: UTF8.self) }
        return limit == .max ? text : String(text.prefix(byteCount: limit))
    }

    /// Returns the bytes with the values hidden.
    func hiding(in bytes: Data, with placeholder: SecretPlaceholder) -> Data {
        Array(bytes).withUnsafeBufferPointer { hidden(in: $0, upTo: .max, with: placeholder) }.map { Data($0) } ?? bytes
    }

    /// Returns the bytes with the values hidden, or `nil` if there are none.
    private func hidden(
        in text: UnsafeBufferPointer<UInt8>,
        upTo limit: Int,
        with placeholder: SecretPlaceholder
    ) -> [UInt8]? {
        var found = ranges(in: text)
        if found.isEmpty { return nil }
        var bytes = Self.replacing(found, in: text, upTo: limit, with: placeholder)
        // Text next to a placeholder may be another secret.
        for _ in 0..<7 {
            found = bytes.withUnsafeBufferPointer(ranges)
            if found.isEmpty { return bytes }
            bytes = bytes.withUnsafeBufferPointer { Self.replacing(found, in: $0, upTo: .max, with: placeholder) }
        }
        return Array(placeholder.text.utf8)
    }

    private static func replacing(
        _ ranges: [Range<Int>],
        in text: UnsafeBufferPointer<UInt8>,
        upTo limit: Int,
        with placeholder: SecretPlaceholder
    ) -> [UInt8] {
        let end = min(text.count, limit)
        var result: [UInt8] = []
        result.reserveCapacity(end)
        var copied = 0
        for range in ranges where range.lowerBound < end {
            result.append(contentsOf: text[copied..<range.lowerBound])
            result += (isNumber(range, in: text) ? placeholder.number : placeholder.text).utf8
            copied = range.upperBound
        }
        if copied < end { result.append(contentsOf: text[copied..<end]) }
        return result
    }

    /// Returns whether a range of digits may be a JSON number.
    private static func isNumber(_ range: Range<Int>, in text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text[range].allSatisfy(\.isDigit) else { return false }
        let before = text[..<range.lowerBound].last { !$0.isBlank }
        let after = range.upperBound < text.count ? text[range.upperBound] : UInt8(ascii: ",")
        return before.map { ":,[".utf8.contains($0) } == true && ",}] \r\n\t".utf8.contains(after)
    }
}
