import HTTPTypes

extension CacheRules {
    /// The position of a part in a representation.
    ///
    /// Source: RFC 9110 §14.4, https://www.rfc-editor.org/rfc/rfc9110.html#section-14.4
    struct ContentRange: Sendable, Equatable {
        /// The positions of the bytes, at least one.
        let range: Range<Int>
        /// The length of the whole representation; `nil` if it is unknown.
        let totalByteCount: Int?

        /// Reads Content-Range; `nil` unless it occurs once, in bytes, and is valid.
        init?(_ headers: HTTPFields) {
            guard let words = headers.single(.contentRange)?.split(separator: " "), words.count == 2,
                words[0].lowercased() == "bytes"
            else { return nil }
            let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            let positions = parts[0].split(separator: "-", omittingEmptySubsequences: false)
            guard positions.count == 2, let first = Self.number(positions[0]), let last = Self.number(positions[1]),
                first <= last
            else { return nil }
            totalByteCount = Self.number(parts[1])
            guard parts[1] == "*" || totalByteCount.map({ last < $0 }) == true else { return nil }
            range = first..<last + 1
        }

        /// Parses up to 18 digits, so that sums do not overflow.
        static func number(_ text: some StringProtocol) -> Int? {
            let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
            guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy(digits.contains) else { return nil }
            return Int(text)
        }
    }
}
