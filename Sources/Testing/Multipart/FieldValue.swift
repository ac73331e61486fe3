import Foundation

/// A field's value and parameters, such as `form-data; name="a"`; indices are offsets in the whole text.
struct FieldValue {
    typealias Failure = MultipartReader.Failure

    let text: String
    private(set) var parameters: [String: ArraySlice<UInt8>] = [:]

    init(_ bytes: ArraySlice<UInt8>) throws {
        var rest = bytes
        text = try Self.takeToken(&rest) { Self.isTokenByte($0) || $0 == UInt8(ascii: "/") }.lowercased()
        while true {
            rest = rest.drop(while: Self.isBlank)
            guard let separator = rest.popFirst() else { return }
            guard separator == UInt8(ascii: ";") else {
                throw Failure("a value goes on without a semicolon", at: rest.startIndex - 1)
            }
            rest = rest.drop(while: Self.isBlank)
            let start = rest.startIndex
            let name = try Self.takeToken(&rest).lowercased()
            guard parameters[name] == nil else { throw Failure("a second parameter of one name", at: start) }
            guard rest.popFirst() == UInt8(ascii: "=") else {
                throw Failure("a parameter without a value", at: start)
            }
            parameters[name] = try Self.takeValue(&rest)
        }
    }

    /// Returns the boundary in a Content-Type (RFC 2046 §5.1.1).
    ///
    /// - Throws: unless the text is `multipart/form-data` with one valid boundary.
    static func boundary(of contentType: String) throws -> String {
        let value = try FieldValue(Array(contentType.utf8)[...])
        guard value.text == "multipart/form-data" else {
            throw Failure("the Content-Type is not multipart/form-data", at: 0)
        }
        guard let boundary = value.parameters["boundary"] else {
            throw Failure("the Content-Type has no boundary", at: contentType.utf8.count)
        }
        guard (1...70).contains(boundary.count) else {
            throw Failure("a boundary of \(boundary.count) bytes, not 1 to 70", at: boundary.startIndex)
        }
        if let index = boundary.firstIndex(where: { !isAlphanumeric($0) && !"'()+_,-./:=? ".utf8.contains($0) }) {
            throw Failure("a character that no boundary has", at: index)
        }
        guard boundary.last != UInt8(ascii: " ") else {
            throw Failure("a boundary that ends in a space", at: boundary.endIndex - 1)
        }
        return String(decoding: boundary, as: UTF8.self)
    }

    static func text(of bytes: ArraySlice<UInt8>) throws -> String {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure("text that is not UTF-8", at: bytes.startIndex)
        }
        return text
    }

    /// A quoted text ends at the next quotation mark: browsers escape with a percent sign, never with a backslash.
    private static func takeValue(_ rest: inout ArraySlice<UInt8>) throws -> ArraySlice<UInt8> {
        let start = rest.startIndex
        guard rest.first == UInt8(ascii: "\"") else {
            let token = rest.prefix(while: isTokenByte)
            guard !token.isEmpty else { throw Failure("a parameter with an empty value", at: start) }
            rest = rest[token.endIndex...]
            return token
        }
        let quoted = rest.dropFirst().prefix { $0 != UInt8(ascii: "\"") }
        rest = rest[quoted.endIndex...]
        guard rest.popFirst() != nil else { throw Failure("a quoted text without its end", at: start) }
        return quoted
    }

    private static func takeToken(
        _ rest: inout ArraySlice<UInt8>,
        of isPart: (UInt8) -> Bool = isTokenByte
    ) throws -> String {
        let token = rest.prefix(while: isPart)
        guard !token.isEmpty else { throw Failure("a name or value is missing", at: rest.startIndex) }
        rest = rest[token.endIndex...]
        return String(decoding: token, as: UTF8.self)
    }

    static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

    /// RFC 9110 §5.6.2.
    static func isTokenByte(_ byte: UInt8) -> Bool { isAlphanumeric(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte) }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch Unicode.Scalar(byte) {
        case "0"..."9", "A"..."Z", "a"..."z": true
        default: false
        }
    }
}
