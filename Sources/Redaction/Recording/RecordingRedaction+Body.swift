package import Foundation

extension RecordingRedaction {
    /// Returns a body with its secrets hidden; the body must be decoded from its content coding.
    ///
    /// - Parameters:
    ///   - body: the bytes.
    ///   - contentType: the value of Content-Type.
    /// - Returns: the same bytes if nothing in them is secret.
    package func body(_ body: Data, contentType: String?) -> Data {
        self.body(body, contentType, depth: 0)
    }

    /// Parts nested deeper are hidden as a whole.
    private static let maximumDepth = 8

    private func body(_ body: Data, _ contentType: String?, depth: Int) -> Data {
        guard !body.isEmpty else { return body }
        let type = MediaType(contentType ?? "")
        if type.essence.hasPrefix("multipart/"), let boundary = Multipart.boundary(in: contentType ?? "") {
            return depth < Self.maximumDepth ? multipart(body, boundary, depth) : Data(Self.placeholder.utf8)
        }
        if let charset = type.charset, charset.hasPrefix("utf-16"),
            let encoding = MediaType.encoding(ofCharset: charset),
            let text = String(data: body, encoding: encoding)
        {
            let shown = self.bytes(Data(text.utf8))
            return shown == Data(text.utf8)
                ? body : String(decoding: shown, as: UTF8.self).data(using: encoding) ?? Data()
        }
        if type.essence == "application/x-www-form-urlencoded", let text = String(data: body, encoding: .utf8) {
            let shown = values(in: self.text(items(text[...], of: .form)))
            return shown == text ? body : Data(shown.utf8)
        }
        return bytes(body)
    }

    /// Returns bytes, which may be text, with their secrets hidden.
    private func bytes(_ bytes: Data) -> Data {
        var shown = bytes
        if !revealsSecrets, String(validating: bytes, as: UTF8.self) != nil,
            let hidden = SecretText.hidden(in: Array(bytes), redactor.names, .recorded, readsLines: true)
        {
            shown = Data(hidden)
        }
        return values(in: shown)
    }

    private func multipart(_ body: Data, _ boundary: String, _ depth: Int) -> Data {
        let parts = Multipart(body, boundary: boundary)
        var result = Data()
        var copied = body.startIndex
        for part in parts.parts {
            let content = body[part.content]
            let shown =
                part.name.map { isSecret(name: $0, in: .form) } == true && !content.isEmpty
                ? Data(Self.placeholder.utf8) : self.body(Data(content), part.contentType, depth: depth + 1)
            guard shown != Data(content) else { continue }
            result += body[copied..<part.content.lowerBound] + shown
            copied = part.content.upperBound
        }
        return values(in: result + body[copied...])
    }
}
