import HTTPTypes

/// The single range that a request asks for.
///
/// Source: RFC 9110 §14.1.2 and §14.2, https://www.rfc-editor.org/rfc/rfc9110.html#section-14.2
enum ByteRange: Sendable, Equatable {
    /// Positions from the first to the last one, inclusive; to the end if there is no last one.
    case from(Int, through: Int?)
    /// The last bytes.
    case suffix(Int)

    /// Reads Range; `nil` if it is absent, invalid, in another unit or has several ranges, so that it is ignored.
    init?(_ request: HTTPRequest) {
        guard request.method == .get,
            let sides = request.headerFields.single(.range)?.split(separator: "=", omittingEmptySubsequences: false),
            sides.count == 2, sides[0].trimmed.lowercased() == "bytes"
        else { return nil }
        let elements = CacheRules.elements(of: sides[1])
        guard elements.count == 1 else { return nil }
        let positions = elements[0].split(separator: "-", omittingEmptySubsequences: false)
        guard positions.count == 2 else { return nil }
        let last = Self.number(positions[1])
        if positions[0].isEmpty {
            guard let last else { return nil }
            self = .suffix(last)
        } else {
            guard let first = Self.number(positions[0]) else { return nil }
            guard positions[1].isEmpty || last.map({ first <= $0 }) == true else { return nil }
            self = .from(first, through: last)
        }
    }

    private static func number(_ text: Substring) -> Int? { CacheRules.ContentRange.number(text) }

    /// Returns the positions in a representation; empty if it has no such bytes, `nil` if that is unknown.
    func positions(total: Int?) -> Range<Int>? {
        switch self {
        case .from(let first, let last?):
            let end = min(last + 1, total ?? .max)
            return first < end ? first..<end : 0..<0
        case .from(let first, nil):
            guard let total else { return nil }
            return first < total ? first..<total : 0..<0
        case .suffix(let count):
            guard let total else { return nil }
            return max(0, total - count)..<total
        }
    }
}
