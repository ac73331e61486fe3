package import Foundation

/// The parts of a multipart body.
///
/// Source: RFC 2046 §5.1.1, https://www.rfc-editor.org/rfc/rfc2046.html#section-5.1.1
package struct Multipart {
    package struct Part {
        package var name: String?
        /// Whether the part is a file, which has a file name.
        package var isFile = false
        package var contentType: String?
        /// The bytes of its header fields, unchanged.
        package var head: Data
        package var content: Range<Data.Index>
    }

    package private(set) var parts: [Part] = []

    /// Reads the parts of a body; a body that is not multipart has none.
    package init(_ body: Data, boundary: String) {
        let delimiter = Data("--\(boundary)".utf8)
        var rest = body[...]
        var starts: [Range<Data.Index>] = []
        while let found = rest.range(of: delimiter) {
            if found.lowerBound == body.startIndex || body[found.lowerBound - 1] == 0x0a { starts.append(found) }
            rest = rest[found.upperBound...]
        }
        for (index, start) in starts.enumerated() {
            guard !body[start.upperBound...].starts(with: "--".utf8) else { break }
            // In a body that was cut short, no delimiter follows the last part.
            var end = index + 1 < starts.count ? starts[index + 1].lowerBound : body.endIndex
            if index + 1 < starts.count {
                end -= 1
                if end > start.upperBound, body[end - 1] == 0x0d { end -= 1 }
            }
            guard start.upperBound <= end, let part = Self.part(body[start.upperBound..<end]) else { continue }
            parts.append(part)
        }
    }

    private static func part(_ bytes: Data) -> Part? {
        let blank = bytes.range(of: Data("\r\n\r\n".utf8)) ?? bytes.range(of: Data("\n\n".utf8))
        guard let blank else { return nil }
        let head = bytes[..<blank.lowerBound]
        var part = Part(head: Data(head), content: blank.upperBound..<bytes.endIndex)
        for line in String(decoding: head, as: UTF8.self).split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
            switch line[..<colon].lowercased() {
            case "content-disposition":
                part.name = MediaType.parameter("name", of: value)
                part.isFile =
                    MediaType.parameter("filename", of: value) != nil
                    || MediaType.parameter("filename*", of: value) != nil
            case "content-type": part.contentType = value
            default: break
            }
        }
        return part
    }

    /// Returns the boundary that a Content-Type names.
    package static func boundary(in contentType: String) -> String? {
        MediaType.parameter("boundary", of: contentType).flatMap { $0.isEmpty ? nil : $0 }
    }
}
