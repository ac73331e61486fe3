import Foundation

/// A body of type `multipart/form-data`, parsed as far as this server needs it; `nil` if it cannot be parsed.
struct MultipartForm {
    struct Part {
        let name: String
        let fileName: String?
        let mimeType: String?
        let content: Data
    }

    let parts: [Part]

    init?(_ body: Data, contentType: String) {
        guard let match = contentType.firstMatch(of: /^multipart\/form-data; *boundary="?([^";]+)/) else { return nil }
        let delimiter = Data("\r\n--\(match.1)".utf8)
        // Makes the first delimiter look like all others.
        var rest = Data("\r\n".utf8) + body
        guard let first = rest.range(of: delimiter), first.lowerBound == rest.startIndex else { return nil }
        rest = rest[first.upperBound...]
        var parts: [Part] = []
        while rest.starts(with: Data("\r\n".utf8)) {
            guard let next = rest.range(of: delimiter), let part = Part(rest[..<next.lowerBound]) else { return nil }
            parts.append(part)
            rest = rest[next.upperBound...]
        }
        guard rest.elementsEqual(Data("--\r\n".utf8)) else { return nil }
        self.parts = parts
    }
}

extension MultipartForm.Part {
    /// Parses the bytes between two delimiters.
    fileprivate init?(_ bytes: Data) {
        guard let end = bytes.range(of: Data("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self)
        guard let name = head.firstMatch(of: /Content-Disposition: form-data; name="([^"]*)"/) else { return nil }
        self.name = String(name.1)
        fileName = head.firstMatch(of: /; filename="([^"]*)"/).map { String($0.1) }
        mimeType = head.firstMatch(of: /Content-Type: ([^\r]+)/).map { String($0.1) }
        content = Data(bytes[end.upperBound...])
    }
}
