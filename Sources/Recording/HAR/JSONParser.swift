import Foundation
package import PipelineCore

/// A strict parser for JSON (RFC 8259), which reports the byte of an error.
///
/// `NaN`, `Infinity` and `-Infinity`, which Python writes although they are not JSON, are read as `null`.
package struct JSONParser {
    package typealias Failure = JSONTokens.Failure

    static var maximumDepth: Int { JSONTokens.maximumDepth }
    /// The most values that are read.
    ///
    /// Values of a few bytes each could otherwise take a hundred times the memory of their text.
    static let maximumValueCount = 1 << 20

    private var tokens: JSONTokens
    private var valueCount = 0

    private init(_ input: UnsafeBufferPointer<UInt8>) { tokens = JSONTokens(input) }

    /// Parses the bytes, which must be one value with optional blanks around it.
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
            try parser.tokens.finish()
            return .success(value)
        } catch {
            return .failure(error)
        }
    }

    private mutating func readValue(_ depth: Int) throws(Failure) -> JSONNode {
        try tokens.check(depth: depth)
        valueCount += 1
        guard valueCount <= Self.maximumValueCount else {
            throw tokens.failure("more than \(Self.maximumValueCount) values")
        }
        tokens.skipSpace()
        defer { tokens.skipSpace() }
        switch tokens.next {
        case UInt8(ascii: "{"): return try readObject(depth)
        case UInt8(ascii: "["): return try readArray(depth)
        case UInt8(ascii: "\""): return .string(try tokens.readString())
        case UInt8(ascii: "t"): return try readLiteral("true", .bool(true))
        case UInt8(ascii: "f"): return try readLiteral("false", .bool(false))
        case UInt8(ascii: "n"): return try readLiteral("null", .null)
        case UInt8(ascii: "N"): return try readLiteral("NaN", .null)
        case UInt8(ascii: "I"): return try readLiteral("Infinity", .null)
        default: return try readNumber()
        }
    }

    private mutating func readObject(_ depth: Int) throws(Failure) -> JSONNode {
        try tokens.beginObject()
        var members: [JSONNode.Member] = []
        while try tokens.hasMember(isFirst: members.isEmpty) {
            let name = try tokens.readString()
            try tokens.skipColon()
            members.append(.init(name, try readValue(depth + 1)))
        }
        return .object(members)
    }

    private mutating func readArray(_ depth: Int) throws(Failure) -> JSONNode {
        try tokens.beginArray()
        var elements: [JSONNode] = []
        while try tokens.hasElement(isFirst: elements.isEmpty) { elements.append(try readValue(depth + 1)) }
        return .array(elements)
    }

    private mutating func readLiteral(_ text: StaticString, _ value: JSONNode) throws(Failure) -> JSONNode {
        try tokens.skipLiteral(text)
        return value
    }

    private mutating func readNumber() throws(Failure) -> JSONNode {
        let start = tokens.index
        if tokens.input[start...].starts(with: "-I".utf8) {
            tokens.index += 1
            return try readLiteral("Infinity", .null)
        }
        return .number(String(decoding: tokens.input[try tokens.skipNumber()], as: UTF8.self))
    }
}
