import Foundation

/// Hides values in JSON text and leaves everything else unchanged: order, numbers, layout.
///
/// The reader is strict (RFC 8259): text that is cut or malformed has no redacted form.
struct JSONRedaction {
    private typealias Malformed = JSONTokens.Failure

    private let redactor: Redactor
    private var tokens: JSONTokens
    /// The ranges of declared values, from the next token on.
    private var secrets: ArraySlice<Range<Int>>
    /// What replaces a range of the input; the range may contain others, which then do not count.
    private var replacements: [(range: Range<Int>, text: [UInt8])] = []

    private init(_ input: UnsafeBufferPointer<UInt8>, _ redactor: Redactor) {
        tokens = JSONTokens(input)
        self.redactor = redactor
        secrets = redactor.secretValues?.ranges(in: input)[...] ?? []
    }

    /// Returns the text with its secrets hidden; `nil` if it is not JSON.
    static func redacted(_ text: String, by redactor: Redactor, depth: Int = 0) -> String? {
        let shown: String? = text.withBytes { input in
            var redaction = JSONRedaction(input, redactor)
            guard (try? redaction.readDocument(depth)) != nil else { return nil }
            return redaction.replacements.isEmpty ? text : redaction.makeOutput()
        }
        return shown.map(redactor.text)
    }

    private mutating func readDocument(_ depth: Int) throws(Malformed) {
        try readValue(depth)
        try tokens.finish()
    }

    private var input: UnsafeBufferPointer<UInt8> { tokens.input }

    // MARK: Output

    private static let hidden = Array("\"\(Redactor.placeholder)\"".utf8)

    private mutating func hide(_ range: Range<Int>) { replacements.append((range, Self.hidden)) }

    private func makeOutput() -> String {
        // A range comes before those that it contains, and a later replacement of the same range before an earlier one.
        let sorted = replacements.enumerated().sorted { one, other in
            let (range, otherRange) = (one.element.range, other.element.range)
            return (range.lowerBound, otherRange.upperBound, other.offset)
                < (otherRange.lowerBound, range.upperBound, one.offset)
        }
        var output: [UInt8] = []
        var copied = 0
        for (_, (range, text)) in sorted where range.lowerBound >= copied {
            output += input[copied..<range.lowerBound]
            output += text
            copied = range.upperBound
        }
        return String(decoding: output + input[copied...], as: UTF8.self)
    }

    /// Returns whether a token contains a declared value; must be called for tokens in their order.
    private mutating func hasSecret(_ token: Range<Int>) -> Bool {
        while let first = secrets.first, first.upperBound <= token.lowerBound { secrets.removeFirst() }
        return secrets.first.map { $0.lowerBound < token.upperBound } ?? false
    }

    // MARK: Values

    private mutating func readValue(_ depth: Int) throws(Malformed) {
        try tokens.check(depth: depth)
        tokens.skipSpace()
        switch tokens.next {
        case UInt8(ascii: "{"): try readObject(depth)
        case UInt8(ascii: "["): try readArray(depth)
        case UInt8(ascii: "\""): try readText(depth)
        case UInt8(ascii: "t"): try tokens.skipLiteral("true")
        case UInt8(ascii: "f"): try tokens.skipLiteral("false")
        case UInt8(ascii: "n"): try tokens.skipLiteral("null")
        default:
            let number = try tokens.skipNumber()
            if hasSecret(number) { hide(number) }
        }
        tokens.skipSpace()
    }

    private mutating func readObject(_ depth: Int) throws(Malformed) {
        try tokens.beginObject()
        var isFirst = true
        var isSecretPair = false
        var pairValue: Range<Int>?
        while try tokens.hasMember(isFirst: isFirst) {
            isFirst = false
            let range = try tokens.skipString()
            let name = try decoded(range)
            if hasSecret(range) { try show(redactor.text(name), for: name, at: range, hidesSecrets: true) }
            try tokens.skipColon()
            tokens.skipSpace()
            let place: SecretPlaces = tokens.next == UInt8(ascii: "\"") ? .textMember : .member
            let start = tokens.index
            let isNull = tokens.next == UInt8(ascii: "n")
            if place == .textMember, SecretPlaces.namesOfPairs.contains(name.lowercased()) {
                var ahead = tokens
                let text = try ahead.readString()
                isSecretPair = isSecretPair || redactor.names.contains(text, in: .textMember)
            }
            try readValue(depth + 1)
            let value = start..<tokens.index
            if !isNull, redactor.names.contains(name, in: place) {
                hide(value)
            } else if name.lowercased() == SecretPlaces.valueOfPairs {
                pairValue = isNull ? nil : value
            }
        }
        // The name of a pair may follow its value.
        if isSecretPair, let pairValue { hide(pairValue) }
    }

    private mutating func readArray(_ depth: Int) throws(Malformed) {
        try tokens.beginArray()
        var isFirst = true
        while try tokens.hasElement(isFirst: isFirst) {
            isFirst = false
            try readValue(depth + 1)
        }
    }

    // MARK: Strings

    /// Reads a string: JSON and URLs in it follow their own rules, other text those of ``SecretText``.
    private mutating func readText(_ depth: Int) throws(Malformed) {
        let range = try tokens.skipString()
        let isSecret = hasSecret(range)
        let mayNest =
            range.count > 4
            && (input[range].contains { ":[=<".utf8.contains($0) } || input[range].starts(with: "\"-----".utf8))
        guard isSecret || mayNest else { return }
        let text = try decoded(range)
        var shown = text
        if text.hasPrefix("{") || text.hasPrefix("[") {
            shown = Self.redacted(text, by: redactor, depth: depth + 1) ?? Redactor.placeholder
        } else if text.contains("://"), !text.contains(where: \.isWhitespace) {
            shown = redactor.url(text)
        } else {
            shown = redactor.hidingNames(in: text)
        }
        if isSecret { shown = redactor.text(shown) }
        try show(shown, for: text, at: range, hidesSecrets: isSecret)
    }

    /// Replaces a string with a text; hides all of it if a value remains in its escaped form.
    private mutating func show(
        _ shown: String,
        for text: String,
        at range: Range<Int>,
        hidesSecrets: Bool
    ) throws(Malformed) {
        let token = shown == text ? Data(input[range]) : try encoded(shown)
        if hidesSecrets, redactor.containsSecret(in: token) {
            hide(range)
        } else if shown != text {
            replacements.append((range, Array(token)))
        }
    }

    private func decoded(_ range: Range<Int>) throws(Malformed) -> String {
        var tokens = JSONTokens(input, at: range.lowerBound)
        return try tokens.readString()
    }

    private func encoded(_ text: String) throws(Malformed) -> Data {
        guard let data = try? JSONEncoder().encode(text) else {
            throw tokens.failure("a text that cannot be written as JSON")
        }
        return data
    }
}
