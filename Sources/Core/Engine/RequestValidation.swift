import HTTPTypes

/// Checks a request before it is sent: nothing in it could split the request, and its framing is unambiguous.
///
/// Method and field names need no check: their types accept only tokens.
///
/// Source: RFC 9110 §5.5, https://www.rfc-editor.org/rfc/rfc9110.html#section-5.5
enum RequestValidation {
    static func failure(of request: PipelineRequest, limits: ProviderConfiguration.Limits) -> PipelineError? {
        if let failure = targetFailure(of: request.head) ?? request.confidentialityFailure { return failure }
        if let announced = request.body.announcedByteCount, announced < 0 {
            return PipelineError(.invalidRequest(.body), "the stream of the body announces \(announced) bytes")
        }
        var byteCount = 0
        for field in request.head.headerFields {
            let length = field.withUnsafeBytesOfValue { HTTPField.isValidValue($0) ? $0.count : nil }
            guard let length else { return invalidValue(of: field.name) }
            byteCount += length + field.name.rawName.utf8.count + 4
            if let failure = framingFailure(of: field, in: request) { return failure }
        }
        return limits.headerFailure(byteCount: byteCount, count: request.head.headerFields.count)
    }

    private static func targetFailure(of head: HTTPRequest) -> PipelineError? {
        guard let scheme = head.scheme, scheme == "https" || scheme == "http" else {
            return PipelineError(.invalidRequest(.scheme), "the scheme is neither http nor https")
        }
        guard let authority = head.authority, isAuthority(authority) else {
            return PipelineError(
                .invalidRequest(.authority),
                "the host is missing or has a character that is not allowed there"
            )
        }
        guard head.method != .connect else {
            return PipelineError(.invalidRequest(.method), "CONNECT is a request to a proxy, which transports make")
        }
        guard let path = head.path, isTarget(path) else {
            return PipelineError(
                .invalidRequest(.path),
                "the path is missing, does not begin with a slash or has a character that must be percent-encoded"
            )
        }
        return nil
    }

    /// One look is enough for a name.
    ///
    /// A port or an address in brackets needs a full check.
    private static func isAuthority(_ authority: String) -> Bool {
        guard !authority.isEmpty else { return false }
        return consists(authority, of: .hostName) || URLText.isAuthority(authority)
    }

    private static func consists(_ text: String, of bytes: ByteSet) -> Bool {
        text.withBytes { text in text.firstOffset { !bytes.contains($0) } == text.count }
    }

    /// Transports treat a percent sign without two digits differently, so it is refused.
    private static func isTarget(_ path: String) -> Bool {
        path.withBytes { path in
            guard path.first == UInt8(ascii: "/") else { return false }
            var index = path.firstOffset { !ByteSet.query.contains($0) }
            while index < path.count {
                guard path[index] == UInt8(ascii: "%"), URLText.isEscape(path, at: index, end: path.count) else {
                    return false
                }
                index = path.firstOffset(from: index + 3) { !ByteSet.query.contains($0) }
            }
            return true
        }
    }

    /// The transport frames the body and names the host.
    ///
    /// A field may repeat these values, but must not contradict them.
    private static func framingFailure(of field: HTTPField, in request: PipelineRequest) -> PipelineError? {
        switch field.name.canonicalName.utf8.count {
        case 4 where field.name.canonicalName == "host":
            guard field.value.lowercased() != request.head.authority?.lowercased() else { return nil }
            return PipelineError(.invalidRequest(.headerValue), "the field Host differs from the host of the URL")
        case 14 where field.name == .contentLength:
            guard let byteCount = request.body.byteCount, field.value != String(byteCount) else { return nil }
            return PipelineError(
                .invalidRequest(.headerValue),
                "the field Content-Length differs from the length of the body, \(byteCount) bytes"
            )
        case 17 where field.name == .transferEncoding:
            return PipelineError(.invalidRequest(.headerValue), "the field Transfer-Encoding is the transport's to set")
        default:
            return nil
        }
    }

    static func invalidValue(of name: HTTPField.Name) -> PipelineError {
        PipelineError(
            .invalidRequest(.headerValue),
            "the value of the header field \(name.rawName.quotedExcerpt) has a character that is not allowed there"
        )
    }
}
