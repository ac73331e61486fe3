import HTTPTypes

/// What a credential belongs to: scheme, host and port.
///
/// Source: RFC 6454 §4, https://www.rfc-editor.org/rfc/rfc6454.html#section-4
package struct Origin: Hashable, Sendable {
    package let scheme: String
    /// Host in lower case, and the port unless it is the scheme's own.
    package let authority: String

    init(scheme: String, authority: String) {
        let port = scheme == "https" ? ":443" : ":80"
        self.scheme = scheme
        self.authority = authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : authority
    }
}

extension PipelineRequest {
    /// Where it goes.
    package var origin: Origin {
        Origin(scheme: (head.scheme ?? "").lowercased(), authority: (head.authority ?? "").lowercased())
    }
}
