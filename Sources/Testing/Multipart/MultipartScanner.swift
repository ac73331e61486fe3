import Foundation

/// Reads a multipart body from its first byte to its last.
struct MultipartScanner {
    typealias Failure = MultipartReader.Failure
    typealias Part = MultipartReader.Part

    private let bytes: [UInt8]
    /// The delimiter: CR, LF, two hyphens and the boundary.
    private let delimiter: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8], boundary: String) {
        self.bytes = bytes
        delimiter = Array("\r\n--\(boundary)".utf8)
    }

    mutating func parts() throws -> [Part] {
        guard bytes.starts(with: delimiter.dropFirst(2)) else {
            throw Failure("the body does not begin with its boundary", at: 0)
        }
        offset = delimiter.count - 2
        var parts: [Part] = []
        while !(try isAtEnd(afterParts: parts.count)) {
            parts.append(try part())
        }
        return parts
    }

    /// Reads the bytes after a boundary: two hyphens at the end, a line ending before another part.
    private mutating func isAtEnd(afterParts count: Int) throws -> Bool {
        if take("\r\n") { return false }
        guard take("--") else { throw Failure("what follows a boundary is neither a part nor the end", at: offset) }
        guard count > 0 else { throw Failure("the body has no parts", at: offset) }
        guard take("\r\n"), offset == bytes.count else {
            throw Failure("the body does not end with a line's end after its last boundary", at: offset)
        }
        return true
    }

    private mutating func part() throws -> Part {
        let start = offset
        var lines: [String] = []
        var disposition: FieldValue?
        var mimeType: String?
        while let line = try line() {
            let (name, value) = try Self.field(of: line)
            lines.append(try FieldValue.text(of: line))
            switch name {
            case "content-disposition":
                guard disposition == nil else { throw Failure("a second Content-Disposition", at: line.startIndex) }
                disposition = try FieldValue(value)
            case "content-type":
                guard mimeType == nil else { throw Failure("a second Content-Type", at: line.startIndex) }
                guard !value.isEmpty else { throw Failure("an empty Content-Type", at: value.startIndex) }
                mimeType = try FieldValue.text(of: value)
            default: break
            }
        }
        guard let disposition, disposition.text == "form-data" else {
            throw Failure("a part without Content-Disposition: form-data", at: start)
        }
        guard let name = disposition.parameters["name"] else { throw Failure("a part without a name", at: start) }
        if let extended = disposition.parameters["filename*"] {
            throw Failure("filename* may not be used in a form", at: extended.startIndex)
        }
        return Part(
            headerLines: lines,
            name: try FieldValue.text(of: name),
            fileName: try disposition.parameters["filename"].map(FieldValue.text),
            mimeType: mimeType,
            content: try content()
        )
    }

    /// Returns the next line without its ending, `nil` for the empty line that ends the fields.
    private mutating func line() throws -> ArraySlice<UInt8>? {
        let start = offset
        while offset < bytes.count, bytes[offset] != UInt8(ascii: "\r") { offset += 1 }
        let line = bytes[start..<offset]
        guard take("\r\n") else { throw Failure("a line of a part's fields has no end", at: offset) }
        return line.isEmpty ? nil : line
    }

    /// Returns the name of a header field in lowercase, and its value without spaces and tabs at either end.
    private static func field(of line: ArraySlice<UInt8>) throws -> (name: String, value: ArraySlice<UInt8>) {
        if let index = line.firstIndex(where: { ($0 < 0x20 && $0 != UInt8(ascii: "\t")) || $0 == 0x7f }) {
            throw Failure("a control character in a part's fields", at: index)
        }
        let name = line.prefix(while: FieldValue.isTokenByte)
        guard !name.isEmpty, line[name.endIndex...].first == UInt8(ascii: ":") else {
            throw Failure("a line of a part's header is not a header field", at: name.endIndex)
        }
        let value = line[name.endIndex...].dropFirst().drop(while: FieldValue.isBlank)
        let end = value.lastIndex { !FieldValue.isBlank($0) }.map { $0 + 1 } ?? value.startIndex
        return (String(decoding: name, as: UTF8.self).lowercased(), value[..<end])
    }

    /// Returns the bytes up to the next boundary, and skips the boundary.
    private mutating func content() throws -> Data {
        let start = offset
        // Starts at the CRLF of the empty line: if a boundary follows it immediately, the part has no content, not even
        // an empty one.
        var index = start - 2
        while index <= bytes.count - delimiter.count {
            if bytes[index] == UInt8(ascii: "\r"), bytes[index...].starts(with: delimiter) {
                guard index >= start else { throw Failure("a boundary where the content begins", at: start) }
                offset = index + delimiter.count
                return Data(bytes[start..<index])
            }
            index += 1
        }
        throw Failure("a part without a boundary at its end", at: bytes.count)
    }

    private mutating func take(_ text: String) -> Bool {
        guard bytes[offset...].starts(with: text.utf8) else { return false }
        offset += text.utf8.count
        return true
    }
}
