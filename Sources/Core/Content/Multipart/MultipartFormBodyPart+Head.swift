extension MultipartFormBodyPart {
    /// Returns the header fields of the part and the empty line after them.
    ///
    /// Errors name the part by its position, which starts at 1.
    func head(position: Int) throws -> [UInt8] {
        var head = Array("Content-Disposition: form-data; name=\"".utf8)
        Self.append(name, to: &head)
        if let fileName {
            head += Array("\"; filename=\"".utf8)
            Self.append(fileName, to: &head)
        }
        head += Array("\"\r\n".utf8)
        if let mimeType = mimeType?.description ?? fileName.map(FileMediaTypes.type(ofFileNamed:)) {
            guard Self.isFieldValue(mimeType) else {
                throw PipelineError(
                    .invalidRequest(.headerValue),
                    "the mimeType of \(label(position: position)) is empty or has a character that is not allowed there"
                )
            }
            head += Array("Content-Type: \(mimeType)\r\n".utf8)
        }
        return head + Array("\r\n".utf8)
    }

    /// Returns the name of the part for errors.
    func label(position: Int) -> String { "part \(position), \(name.quotedExcerpt)," }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), 0x00..<0x09, 0x0a..<0x20, 0x7f:
                let none = ByteSet(low: 0, high: 0)
                PercentEncoding.append(CollectionOfOne(byte), to: &bytes, allowed: none, keepsEscapes: false)
            default:
                bytes.append(byte)
            }
        }
    }

    private static func isFieldValue(_ text: String) -> Bool {
        guard let first = text.utf8.first, first != 0x20, text.utf8.last != 0x20 else { return false }
        return text.utf8.allSatisfy { (0x20..<0x7f).contains($0) }
    }
}
