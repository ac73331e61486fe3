package import Foundation

extension RecordingRedaction {
    /// Returns a body with its secrets hidden; the body must be decoded from its content coding.
    ///
    /// Text need not be valid or complete, nor in the charset that its type states. Text that is not UTF-8 is hidden as
    /// a whole if its charset is unknown, unless that extends ASCII.
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
        if !revealsSecrets, type.hasForeignCharset, !MediaType.isUTF8(body) { return Data(Self.placeholder.utf8) }
        // The charset may be wrong, so the bytes are searched as they are, too.
        let shown = text(body, type)
        guard let encoding = type.encoding(of: shown), let text = Self.text(shown, encoding) else { return shown }
        let decoded = Data(text.utf8)
        let hidden = self.text(decoded, type)
        if hidden == decoded { return shown }
        return String(decoding: hidden, as: UTF8.self).data(using: encoding) ?? Data(Self.placeholder.utf8)
    }

    /// Returns bytes, which may be text in an extension of ASCII, with their secrets hidden.
    private func text(_ bytes: Data, _ type: MediaType) -> Data {
        // It is not part of the first line.
        let byteOrderMark = Data("\u{feff}".utf8)
        if bytes.starts(with: byteOrderMark) { return byteOrderMark + text(Data(bytes.dropFirst(3)), type) }
        if type.isForm {
            // Any bytes are Latin-1, and become the same bytes.
            let utf8 = String(data: bytes, encoding: .utf8)
            let text = utf8 ?? String(data: bytes, encoding: .isoLatin1) ?? ""
            let shown = self.text(items(text[...], of: .form))
            let encoded = utf8 == nil ? shown.data(using: .isoLatin1) : nil
            return values(in: shown == text ? bytes : encoded ?? Data(shown.utf8))
        }
        guard !revealsSecrets, type.isText && !type.essence.isEmpty || Self.mayBeText(bytes),
            let hidden = SecretText.hidden(in: Array(bytes), redactor.names, .recorded, readsLines: true)
        else { return values(in: bytes) }
        return values(in: Data(hidden))
    }

    /// Whether bytes are UTF-8 or have no control characters, as in other encodings and where UTF-8 is cut.
    private static func mayBeText(_ bytes: Data) -> Bool {
        String(validating: bytes, as: UTF8.self) != nil || bytes.allSatisfy { $0 >= 0x20 || $0.isBlank }
    }

    /// Returns decoded text; `nil` if it cannot be decoded.
    ///
    /// Broken characters of UTF-16 are replaced, and half of one at the end is omitted.
    private static func text(_ bytes: Data, _ encoding: String.Encoding) -> String? {
        let isBigEndian = encoding == .utf16BigEndian
        guard isBigEndian || encoding == .utf16LittleEndian else { return String(data: bytes, encoding: encoding) }
        let bytes = Array(bytes)
        let units = stride(from: 0, to: bytes.count - 1, by: 2).map { index in
            let unit = UInt16(bytes[index]) << 8 | UInt16(bytes[index + 1])
            return isBigEndian ? unit : unit.byteSwapped
        }
        return String(decoding: units, as: UTF16.self)
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
