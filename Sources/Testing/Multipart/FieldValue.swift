import Foundation

/// A field's value and parameters, such as `form-data; name="a"`; indices are offsets in the whole text.
struct FieldValue {
    typealias Failure = MultipartReader.Failure

    let text: String
    private var parameters: [String: ArraySlice<UInt8>] = [:]

    init(_ bytes: ArraySlice<UInt8>) throws {
        var rest = bytes
        text = try Self.takeToken(&rest, "/")
        while true {
            Self.skipBlanks(&rest)
            guard let separator = rest.popFirst() else { return }
            guard separator == UInt8(ascii: ";") else {
                throw Failure("a value goes on without a semicolon", at: rest.startIndex - 1)
            }
            Self.skipBlanks(&rest)
            let start = rest.startIndex
            let name = try Self.takeToken(&rest).lowercased()
            guard parameter(name) == nil else { throw Failure("a second parameter of one name", at: start) }
            guard rest.popFirst() == UInt8(ascii: "=") else {
                throw Failure("a parameter without a value", at: start)
            }
            parameters[name] = try Self.takeValue(&rest)
        }
    }

    func parameter(_ name: String) -> ArraySlice<UInt8>? {
        parameters[name]
    }

    static func text(of bytes: ArraySlice<UInt8>) throws -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure("text that is not UTF-8", at: bytes.startIndex)
        }
        return text
    }

    /// A quoted text ends at the next quotation mark: browsers escape with a percent sign, never with a backslash.
    private static func takeValue(_ rest: inout ArraySlice<UInt8>) throws -> ArraySlice<UInt8> {
        guard rest.first == UInt8(ascii: "\"") else {
            let token = rest.prefix { isTokenByte($0) }
            guard !token.isEmpty else { throw Failure("a parameter with an empty value", at: rest.startIndex) }
            rest = rest[token.endIndex...]
            return token
        }
        let start = rest.startIndex
        let quoted = rest.dropFirst().prefix { $0 != UInt8(ascii: "\"") }
        rest = rest[quoted.endIndex...]
        guard rest.popFirst() != nil else { throw Failure("a quoted text without its end", at: start) }
        return quoted
    }

    private static func takeToken(_ rest: inout ArraySlice<UInt8>, _ more: Unicode.Scalar? = nil) throws -> String {
        let token = rest.prefix { isTokenByte($0) || (more.map(UInt8.init(ascii:)) == $0) }
        guard !token.isEmpty else { throw Failure("a name or value is missing", at: rest.startIndex) }
        rest = rest[token.endIndex...]
        return String(decoding: token, as: UTF8.self)
    }

    private static func skipBlanks(_ rest: inout ArraySlice<UInt8>) {
        rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    }

    /// RFC 9110 §5.6.2.
    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "a")...UInt8(ascii: "z"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
