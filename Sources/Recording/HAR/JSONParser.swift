import Foundation

/// Reads JSON strictly (RFC 8259), and says at which byte it is wrong.
///
/// `NaN`, `Infinity` and `-Infinity`, which Python writes for numbers that JSON has not, are `null`.
package struct JSONParser {
    /// What is wrong, and where.
    package struct Failure: Error, Equatable {
        /// Of the first byte that cannot be read, from 0.
        package let offset: Int
        package let reason: String
    }

    /// The deepest nesting that is read: what the stack of a thread that is not the main one holds.
    package static let maximumDepth = 128
    /// How many values are read, so that those of a few bytes each do not take a hundred times the memory of their text.
    package static let maximumValueCount = 1 << 20

    private let input: UnsafeBufferPointer<UInt8>
    private var index = 0
    private var valueCount = 0

    private init(_ input: UnsafeBufferPointer<UInt8>) { self.input = input }

    /// The value that the bytes hold, and nothing else but blanks.
    package static func parse(_ bytes: some Collection<UInt8>) throws(Failure) -> JSONNode {
        let result =
            bytes.withContiguousStorageIfAvailable { Self.result(of: $0) }
            ?? Array(bytes).withUnsafeBufferPointer { Self.result(of: $0) }
        return try result.get()
    }

    private static func result(of input: UnsafeBufferPointer<UInt8>) -> Result<JSONNode, Failure> {
        var parser = JSONParser(input)
        do throws(Failure) {
            let value = try parser.readValue(0)
            guard parser.index == input.count else { throw parser.failure("something follows the value") }
            return .success(value)
        } catch {
            return .failure(error)
        }
    }

    private var next: UInt8? { index < input.count ? input[index] : nil }

    private func failure(_ reason: String) -> Failure {
        Failure(offset: index, reason: index < input.count ? reason : "the text ends too early")
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { index += 1 }
    }

    private mutating func skip(_ byte: UInt8, _ reason: String) throws(Failure) {
        guard next == byte else { throw failure(reason) }
        index += 1
    }

    private mutating func readValue(_ depth: Int) throws(Failure) -> JSONNode {
        guard depth < Self.maximumDepth else { throw failure("nested deeper than \(Self.maximumDepth) levels") }
        valueCount += 1
        guard valueCount <= Self.maximumValueCount else { throw failure("more than \(Self.maximumValueCount) values") }
        skipSpace()
        defer { skipSpace() }
        switch next {
        case UInt8(ascii: "{"): return try readObject(depth)
        case UInt8(ascii: "["): return try readArray(depth)
        case UInt8(ascii: "\""): return .string(try readString())
        case UInt8(ascii: "t"): return try readLiteral("true", .bool(true))
        case UInt8(ascii: "f"): return try readLiteral("false", .bool(false))
        case UInt8(ascii: "n"): return try readLiteral("null", .null)
        case UInt8(ascii: "N"): return try readLiteral("NaN", .null)
        case UInt8(ascii: "I"): return try readLiteral("Infinity", .null)
        default: return try readNumber()
        }
    }

    private mutating func readObject(_ depth: Int) throws(Failure) -> JSONNode {
        index += 1
        skipSpace()
        var members: [JSONNode.Member] = []
        if next == UInt8(ascii: "}") {
            index += 1
            return .object(members)
        }
        while true {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw failure("a name is missing") }
            let name = try readString()
            skipSpace()
            try skip(UInt8(ascii: ":"), "a colon is missing")
            members.append(.init(name, try readValue(depth + 1)))
            guard next == UInt8(ascii: ",") else { break }
            index += 1
        }
        try skip(UInt8(ascii: "}"), "an object does not end")
        return .object(members)
    }

    private mutating func readArray(_ depth: Int) throws(Failure) -> JSONNode {
        index += 1
        skipSpace()
        var elements: [JSONNode] = []
        if next == UInt8(ascii: "]") {
            index += 1
            return .array(elements)
        }
        while true {
            elements.append(try readValue(depth + 1))
            guard next == UInt8(ascii: ",") else { break }
            index += 1
        }
        try skip(UInt8(ascii: "]"), "an array does not end")
        return .array(elements)
    }

    private mutating func readLiteral(_ text: StaticString, _ value: JSONNode) throws(Failure) -> JSONNode {
        for offset in 0..<text.utf8CodeUnitCount { try skip(text.utf8Start[offset], "no value is written so") }
        return value
    }

    private mutating func readNumber() throws(Failure) -> JSONNode {
        let start = index
        if next == UInt8(ascii: "-") { index += 1 }
        if next == UInt8(ascii: "I"), index > start { return try readLiteral("Infinity", .null) }
        if next == UInt8(ascii: "0") { index += 1 } else { try skipDigits() }
        if next == UInt8(ascii: ".") {
            index += 1
            try skipDigits()
        }
        if let byte = next, byte | 0x20 == UInt8(ascii: "e") {
            index += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { index += 1 }
            try skipDigits()
        }
        return .number(String(decoding: input[start..<index], as: UTF8.self))
    }

    private mutating func skipDigits() throws(Failure) {
        let start = index
        while let byte = next, (0x30...0x39).contains(byte) { index += 1 }
        guard index > start else { throw failure("no value is written so") }
    }

    // MARK: Strings

    private mutating func readString() throws(Failure) -> String {
        index += 1
        let start = index
        var bytes: [UInt8] = []
        while true {
            let part = index
            while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
                guard byte >= 0x20 else { throw failure("a control character in a string") }
                index += 1
            }
            bytes.append(contentsOf: input[part..<index])
            guard next == UInt8(ascii: "\\") else { break }
            bytes.append(contentsOf: UTF8.encode(try readEscape()) ?? UTF8.encodedReplacementCharacter)
        }
        try skip(UInt8(ascii: "\""), "a string does not end")
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(offset: start, reason: "a string is not UTF-8")
        }
        return text
    }

    /// A surrogate without its other half becomes U+FFFD: real writers cut texts in the middle of a character.
    private mutating func readEscape() throws(Failure) -> Unicode.Scalar {
        index += 1
        guard let byte = next else { throw failure("") }
        if byte == UInt8(ascii: "u") {
            index += 1
            let first = try readHex()
            if let scalar = Unicode.Scalar(first) { return scalar }
            let place = index
            if first < 0xdc00, next == UInt8(ascii: "\\"), index + 1 < input.count,
                input[index + 1] == UInt8(ascii: "u")
            {
                index += 2
                let second = try readHex()
                if (0xdc00...0xdfff).contains(second),
                    let scalar = Unicode.Scalar(0x10000 + (UInt32(first) - 0xd800) << 10 + UInt32(second) - 0xdc00)
                {
                    return scalar
                }
                index = place
            }
            return "\u{fffd}"
        }
        guard let scalar = Self.escapes[byte] else { throw failure("no escape is written so") }
        index += 1
        return scalar
    }

    private mutating func readHex() throws(Failure) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw failure("no escape is written so")
            }
            value = value << 4 | UInt16(digit)
            index += 1
        }
        return value
    }

    private static let escapes: [UInt8: Unicode.Scalar] = [
        UInt8(ascii: "\""): "\"", UInt8(ascii: "\\"): "\\", UInt8(ascii: "/"): "/", UInt8(ascii: "b"): "\u{8}",
        UInt8(ascii: "f"): "\u{c}", UInt8(ascii: "n"): "\n", UInt8(ascii: "r"): "\r", UInt8(ascii: "t"): "\t",
    ]
}
