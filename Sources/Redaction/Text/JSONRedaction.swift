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
    /// How much of the input has been copied to the output or omitted.
    private var copied = 0
    private var output: [UInt8] = []
    /// The values in the output whose name came later, in the order of their ends; they are hidden at the end.
    private var hiddenRanges: [Range<Int>] = []

    private init(_ input: UnsafeBufferPointer<UInt8>, _ redactor: Redactor) {
        tokens = JSONTokens(input)
        self.redactor = redactor
        secrets = redactor.secretValues?.ranges(in: input)[...] ?? []
    }

    /// Returns the text with its secrets hidden; `nil` if it is not JSON.
    static func redacted(_ text: String, by redactor: Redactor) -> String? {
        redacted(text, by: redactor, depth: 0)
    }

    private static func redacted(_ text: String, by redactor: Redactor, depth: Int) -> String? {
        let shown: String? = text.withBytes { input in
            var redaction = JSONRedaction(input, redactor)
            guard (try? redaction.readDocument(depth)) != nil else { return nil }
            if redaction.copied == 0 { return text }
            redaction.copyRead()
            if !redaction.hiddenRanges.isEmpty { redaction.hideRanges() }
            return String(decoding: redaction.output, as: UTF8.self)
        }
        return shown.map(redactor.text)
    }

    private mutating func readDocument(_ depth: Int) throws(Malformed) {
        try readValue(depth)
        try tokens.finish()
    }

    private var input: UnsafeBufferPointer<UInt8> { tokens.input }

    // MARK: Output

    private mutating func copyRead() {
        output.append(contentsOf: input[copied..<tokens.index])
        copied = tokens.index
    }

    /// Replaces the input read since a position with a text.
    private mutating func replace(from start: Int, with text: some Sequence<UInt8>) {
        output.append(contentsOf: input[copied..<start])
        output.append(contentsOf: text)
        copied = tokens.index
    }

    private static let hidden = Array("\"\(Redactor.placeholder)\"".utf8)

    private mutating func hide(from start: Int) { replace(from: start, with: Self.hidden) }

    /// Replaces the noted ranges; one may contain others.
    private mutating func hideRanges() {
        var outermost: [Range<Int>] = []
        for range in hiddenRanges.reversed() where range.upperBound <= outermost.last?.lowerBound ?? .max {
            outermost.append(range)
        }
        let all = output
        output = []
        var copied = 0
        for range in outermost.reversed() {
            output += all[copied..<range.lowerBound] + Self.hidden
            copied = range.upperBound
        }
        output += all[copied...]
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
            if hasSecret(number) { hide(from: number.lowerBound) }
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
            if redactor.names.contains(name, in: place) {
                try readHidden(depth + 1)
                continue
            }
            switch name.lowercased() {
            case SecretPlaces.valueOfPairs: pairValue = try readPairValue(depth + 1)
            case let name where SecretPlaces.namesOfPairs.contains(name) && place == .textMember:
                var ahead = tokens
                let text = try ahead.readString()
                isSecretPair = isSecretPair || redactor.names.contains(text, in: .textMember)
                try readValue(depth + 1)
            default: try readValue(depth + 1)
            }
        }
        if isSecretPair, let pairValue { hiddenRanges.append(pairValue) }
    }

    /// Reads the value of a pair, whose name may come later; returns its place in the output, `nil` for `null`.
    private mutating func readPairValue(_ depth: Int) throws(Malformed) -> Range<Int>? {
        copyRead()
        let start = output.count
        let isNull = tokens.next == UInt8(ascii: "n")
        try readValue(depth)
        copyRead()
        return isNull ? nil : start..<output.count
    }

    private mutating func readArray(_ depth: Int) throws(Malformed) {
        try tokens.beginArray()
        var isFirst = true
        while try tokens.hasElement(isFirst: isFirst) {
            isFirst = false
            try readValue(depth + 1)
        }
    }

    private mutating func readHidden(_ depth: Int) throws(Malformed) {
        copyRead()
        let start = tokens.index
        let written = output.count
        let isNull = tokens.next == UInt8(ascii: "n")
        try readValue(depth)
        guard !isNull else { return }
        output.removeLast(output.count - written)
        while let last = hiddenRanges.last, last.upperBound > written { hiddenRanges.removeLast() }
        copied = start
        hide(from: start)
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
            hide(from: range.lowerBound)
        } else if shown != text {
            replace(from: range.lowerBound, with: token)
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
