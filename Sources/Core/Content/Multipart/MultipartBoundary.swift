import Foundation

/// The boundary that separates the parts of a multipart body.
///
/// Source: RFC 2046 §5.1.1, https://www.rfc-editor.org/rfc/rfc2046.html#section-5.1.1
struct MultipartBoundary: Sendable {
    let text: String

    private static let maximumAttempts = 100

    /// Checks a boundary that the caller chose: it must be valid and must not occur in a part in memory.
    init(checked text: String, for parts: [MultipartFormBodyPart]) throws {
        guard (1...70).contains(text.utf8.count), text.utf8.last != UInt8(ascii: " "),
            text.utf8.allSatisfy({ Self.isBoundaryByte($0) })
        else {
            throw PipelineError(
                .encoding,
                "the boundary is not 1 to 70 characters of those that a boundary may have, the last of them no space"
            )
        }
        self.text = text
        if let index = parts.firstIndex(where: occurs) {
            throw PipelineError(
                .encoding,
                "the boundary occurs in \(parts[index].label(position: index + 1)) of the form"
            )
        }
    }

    /// Makes a boundary from 128 random bits that occurs in no part in memory.
    init(using generator: inout some RandomNumberGenerator, for parts: [MultipartFormBodyPart]) throws {
        for _ in 0..<Self.maximumAttempts {
            self.init(text: "pipeline-" + String(format: "%016llx%016llx", generator.next(), generator.next()))
            if !parts.contains(where: occurs) { return }
        }
        throw PipelineError(.encoding, "\(Self.maximumAttempts) random boundaries all occur in the form")
    }

    private init(text: String) {
        self.text = text
    }

    /// The value of Content-Type; the boundary is quoted if it is not a token.
    var contentType: String {
        let needsQuotes = text.utf8.contains { Self.quotedBytes.contains($0) }
        return "multipart/form-data; boundary=" + (needsQuotes ? "\"\(text)\"" : text)
    }

    private func occurs(in part: MultipartFormBodyPart) -> Bool {
        guard let bytes = part.body.bytes, !bytes.isEmpty else { return false }
        return bytes.withUnsafeBytes { bytes in Array(text.utf8).withUnsafeBytes { Self.occurs($0, in: bytes) } }
    }

    /// Searches for the first byte with `memchr`; Data's own search is about ten times as slow.
    private static func occurs(_ text: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer) -> Bool {
        guard let pattern = text.baseAddress, let first = text.first, var start = bytes.baseAddress else {
            return false
        }
        let end = start + bytes.count
        while end - start >= text.count, let match = memchr(start, CInt(first), end - start - text.count + 1) {
            if memcmp(match, pattern, text.count) == 0 { return true }
            start = UnsafeRawPointer(match) + 1
        }
        return false
    }

    private static func isBoundaryByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        default: quotedBytes.contains(byte) || tokenBytes.contains(byte)
        }
    }

    /// The characters besides letters and digits that a boundary and a token may contain.
    private static let tokenBytes = Array("'+_-.".utf8)
    /// The characters that a boundary may contain but a token may not.
    private static let quotedBytes = Array("(),/:=? ".utf8)
}
