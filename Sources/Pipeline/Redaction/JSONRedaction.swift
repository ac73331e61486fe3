import Foundation

/// Hides values in JSON text and leaves everything else as it was written: order, numbers, layout.
///
/// It reads strictly (RFC 8259): text that is cut or malformed has no redacted form.
struct JSONRedaction {
    private struct Malformed: Error {}

    private let redactor: Redactor
    private let depth: Int
    private let input: [UInt8]
    private var names: SecretNames
    private var index = 0
    private var output: [UInt8] = []

    private static let maximumDepth = 256

    private init(_ input: [UInt8], _ redactor: Redactor, _ names: SecretNames, depth: Int) {
        self.input = input
        self.redactor = redactor
        self.names = names
        self.depth = depth
        output.reserveCapacity(input.count)
    }

    /// The text with its secrets hidden, `nil` when it is not JSON.
    static func redacted(_ text: String, by redactor: Redactor) -> String? {
        redacted(text, by: redactor, SecretNames(redactor.secretNames), depth: 0)
    }

    private static func redacted(_ text: String, by redactor: Redactor, _ names: SecretNames, depth: Int) -> String? {
        var redaction = JSONRedaction(Array(text.utf8), redactor, names, depth: depth)
        guard (try? redaction.readDocument()) != nil else { return nil }
        return String(decoding: redaction.output, as: UTF8.self)
    }

    private mutating func readDocument() throws {
        try readValue(depth)
        guard index == input.count else { throw Malformed() }
    }

    private var next: UInt8? { index < input.count ? input[index] : nil }

    private mutating func copySpace() {
        while let byte = next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 {
            output.append(byte)
            index += 1
        }
    }

    private mutating func copy(_ byte: UInt8) throws {
        guard next == byte else { throw Malformed() }
        output.append(byte)
        index += 1
    }

    // MARK: Values

    private mutating func readValue(_ depth: Int) throws {
        guard depth < Self.maximumDepth else { throw Malformed() }
        copySpace()
        switch next {
        case UInt8(ascii: "{"): try readObject(depth)
        case UInt8(ascii: "["): try readArray(depth)
        case UInt8(ascii: "\""): try readText(depth)
        case UInt8(ascii: "t"): try readLiteral("true")
        case UInt8(ascii: "f"): try readLiteral("false")
        case UInt8(ascii: "n"): try readLiteral("null")
        default: try readNumber()
        }
        copySpace()
    }

    private mutating func readObject(_ depth: Int) throws {
        try copy(UInt8(ascii: "{"))
        copySpace()
        guard next != UInt8(ascii: "}") else { return try copy(UInt8(ascii: "}")) }
        while true {
            copySpace()
            let range = try skipString()
            output += input[range]
            copySpace()
            try copy(UInt8(ascii: ":"))
            if names.contains(try decoded(range)) {
                try readHidden(depth + 1)
            } else {
                try readValue(depth + 1)
            }
            guard next == UInt8(ascii: ",") else { break }
            try copy(UInt8(ascii: ","))
        }
        try copy(UInt8(ascii: "}"))
    }

    private mutating func readArray(_ depth: Int) throws {
        try copy(UInt8(ascii: "["))
        copySpace()
        guard next != UInt8(ascii: "]") else { return try copy(UInt8(ascii: "]")) }
        while true {
            try readValue(depth + 1)
            guard next == UInt8(ascii: ",") else { break }
            try copy(UInt8(ascii: ","))
        }
        try copy(UInt8(ascii: "]"))
    }

    private mutating func readHidden(_ depth: Int) throws {
        copySpace()
        let mark = output.count
        let isNull = next == UInt8(ascii: "n")
        try readValue(depth)
        guard !isNull else { return }
        output.removeLast(output.count - mark)
        output += "\"\(Redactor.placeholder)\"".utf8
    }

    private mutating func readLiteral(_ text: StaticString) throws {
        for offset in 0..<text.utf8CodeUnitCount { try copy(text.utf8Start[offset]) }
    }

    private mutating func readNumber() throws {
        let start = index
        while let byte = next,
            (0x30...0x39).contains(byte) || byte == 0x2b || byte == 0x2d || byte == 0x2e || byte | 0x20 == 0x65
        {
            output.append(byte)
            index += 1
        }
        guard index > start else { throw Malformed() }
    }

    // MARK: Strings

    /// JSON and URLs inside a string follow their own rules.
    private mutating func readText(_ depth: Int) throws {
        let range = try skipString()
        guard range.count > 4, input[range].contains(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "[") })
        else {
            output += input[range]
            return
        }
        let text = try decoded(range)
        var shown = text
        if text.hasPrefix("{") || text.hasPrefix("[") {
            shown = Self.redacted(text, by: redactor, names, depth: depth + 1) ?? Redactor.placeholder
        } else if text.contains("://"), !text.contains(where: \.isWhitespace) {
            shown = redactor.url(text)
        }
        output += shown == text ? Array(input[range]) : Array(try JSONEncoder().encode(shown))
    }

    /// Moves behind a string and returns where it stands, with its quotes.
    private mutating func skipString() throws -> Range<Int> {
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

    private func decoded(_ range: Range<Int>) throws -> String {
        let content = input[range].dropFirst().dropLast()
        guard content.contains(UInt8(ascii: "\\")) else { return String(decoding: content, as: UTF8.self) }
        return try JSONDecoder().decode(String.self, from: Data(input[range]))
    }
}
