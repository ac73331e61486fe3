import Foundation

/// Hides values in JSON text and leaves everything else as it was written: order, numbers, layout.
///
/// It reads strictly (RFC 8259): text that is cut or malformed has no redacted form.
struct JSONRedaction {
    private struct Malformed: Error {}

    private let redactor: Redactor
    private let input: UnsafeBufferPointer<UInt8>
    /// Where declared values stand, from the next token on.
    private var secrets: ArraySlice<Range<Int>>
    private var index = 0
    /// What of the input stands in the output already, or is left out of it.
    private var copied = 0
    private var output: [UInt8] = []

    private static let maximumDepth = 256

    private init(_ input: UnsafeBufferPointer<UInt8>, _ redactor: Redactor) {
        self.input = input
        self.redactor = redactor
        secrets = redactor.secretValues?.ranges(in: input)[...] ?? []
    }

    /// The text with its secrets hidden, `nil` when it is not JSON.
    static func redacted(_ text: String, by redactor: Redactor) -> String? {
        redacted(text, by: redactor, depth: 0)
    }

    private static func redacted(_ text: String, by redactor: Redactor, depth: Int) -> String? {
        let shown: String? = text.withBytes { input in
            var redaction = JSONRedaction(input, redactor)
            guard (try? redaction.readDocument(depth)) != nil else { return nil }
            if redaction.copied == 0 { return text }
            redaction.copyRead()
            return String(decoding: redaction.output, as: UTF8.self)
        }
        return shown.map(redactor.text)
    }

    private mutating func readDocument(_ depth: Int) throws(Malformed) {
        try readValue(depth)
        guard index == input.count else { throw Malformed() }
    }

    private var next: UInt8? { index < input.count ? input[index] : nil }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { index += 1 }
    }

    private mutating func skip(_ byte: UInt8) throws(Malformed) {
        guard next == byte else { throw Malformed() }
        index += 1
    }

    // MARK: Output

    private mutating func copyRead() {
        output.append(contentsOf: input[copied..<index])
        copied = index
    }

    /// Writes a text in place of what was read since a place.
    private mutating func replace(from start: Int, with text: some Sequence<UInt8>) {
        output.append(contentsOf: input[copied..<start])
        output.append(contentsOf: text)
        copied = index
    }

    private mutating func hide(from start: Int) {
        replace(from: start, with: "\"\(Redactor.placeholder)\"".utf8)
    }

    /// Whether a declared value stands in a token; tokens are asked for in their order.
    private mutating func hasSecret(_ token: Range<Int>) -> Bool {
        while let first = secrets.first, first.upperBound <= token.lowerBound { secrets.removeFirst() }
        return secrets.first.map { $0.lowerBound < token.upperBound } ?? false
    }

    // MARK: Values

    private mutating func readValue(_ depth: Int) throws(Malformed) {
        guard depth < Self.maximumDepth else { throw Malformed() }
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): try readObject(depth)
        case UInt8(ascii: "["): try readArray(depth)
        case UInt8(ascii: "\""): try readText(depth)
        case UInt8(ascii: "t"): try skipLiteral("true")
        case UInt8(ascii: "f"): try skipLiteral("false")
        case UInt8(ascii: "n"): try skipLiteral("null")
        default: try readNumber()
        }
        skipSpace()
    }

    private mutating func readObject(_ depth: Int) throws(Malformed) {
        try skip(UInt8(ascii: "{"))
        skipSpace()
        guard next != UInt8(ascii: "}") else { return try skip(UInt8(ascii: "}")) }
        while true {
            skipSpace()
            let range = try skipString()
            let name = try decoded(range)
            if hasSecret(range) { try show(redactor.text(name), for: name, at: range, hidesSecrets: true) }
            skipSpace()
            try skip(UInt8(ascii: ":"))
            skipSpace()
            let place: SecretPlaces = next == UInt8(ascii: "\"") ? .textMember : .member
            if redactor.names.contains(name, in: place) { try readHidden(depth + 1) } else { try readValue(depth + 1) }
            guard next == UInt8(ascii: ",") else { break }
            try skip(UInt8(ascii: ","))
        }
        try skip(UInt8(ascii: "}"))
    }

    private mutating func readArray(_ depth: Int) throws(Malformed) {
        try skip(UInt8(ascii: "["))
        skipSpace()
        guard next != UInt8(ascii: "]") else { return try skip(UInt8(ascii: "]")) }
        while true {
            try readValue(depth + 1)
            guard next == UInt8(ascii: ",") else { break }
            try skip(UInt8(ascii: ","))
        }
        try skip(UInt8(ascii: "]"))
    }

    private mutating func readHidden(_ depth: Int) throws(Malformed) {
        skipSpace()
        copyRead()
        let start = index
        let written = output.count
        let isNull = next == UInt8(ascii: "n")
        try readValue(depth)
        guard !isNull else { return }
        output.removeLast(output.count - written)
        copied = start
        hide(from: start)
    }

    private mutating func skipLiteral(_ text: StaticString) throws(Malformed) {
        for offset in 0..<text.utf8CodeUnitCount { try skip(text.utf8Start[offset]) }
    }

    private mutating func readNumber() throws(Malformed) {
        let start = index
        while let byte = next,
            (0x30...0x39).contains(byte) || byte == 0x2b || byte == 0x2d || byte == 0x2e || byte | 0x20 == 0x65
        {
            index += 1
        }
        guard index > start else { throw Malformed() }
        if hasSecret(start..<index) { hide(from: start) }
    }

    // MARK: Strings

    /// JSON and URLs inside a string follow their own rules, other text those of ``SecretText``.
    private mutating func readText(_ depth: Int) throws(Malformed) {
        let range = try skipString()
        let isSecret = hasSecret(range)
        let mayNest = range.count > 4 && input[range].contains { ":[=<".utf8.contains($0) }
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

    /// Writes a text in place of a string; all of it is hidden when a value stands in its escapes only.
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

    /// Moves behind a string and returns where it stands, with its quotes.
    private mutating func skipString() throws(Malformed) -> Range<Int> {
        let start = index
        guard next == UInt8(ascii: "\"") else { throw Malformed() }
        index += 1
        while let byte = next, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw Malformed() }
            index += byte == UInt8(ascii: "\\") ? 2 : 1
        }
        guard next != nil else { throw Malformed() }
        index += 1
        return start..<index
    }

    private func decoded(_ range: Range<Int>) throws(Malformed) -> String {
        let content = UnsafeBufferPointer(rebasing: input[range.lowerBound + 1..<range.upperBound - 1])
        guard content.contains(UInt8(ascii: "\\")) else { return String(decoding: content, as: UTF8.self) }
        guard let text = try? JSONDecoder().decode(String.self, from: Data(input[range])) else { throw Malformed() }
        return text
    }

    private func encoded(_ text: String) throws(Malformed) -> Data {
        guard let data = try? JSONEncoder().encode(text) else { throw Malformed() }
        return data
    }
}
