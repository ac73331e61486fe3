import HTTPTypes

extension PipelineRequest {
    /// The scheme, host and port to which credentials belong.
    ///
    /// Source: RFC 6454 §4, https://www.rfc-editor.org/rfc/rfc6454.html#section-4
    public struct Origin: Hashable, Sendable, CustomStringConvertible {
        /// The scheme, in lowercase letters.
        public let scheme: String
        /// The host in lowercase letters, with the port unless it is the scheme's default.
        public let authority: String

        init(scheme: String, authority: String) {
            let port = scheme == "https" ? ":443" : ":80"
            self.scheme = scheme
            self.authority = authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : authority
        }

        /// The origin as in an Origin header field, `https://host:port`.
        public var description: String { "\(scheme)://\(authority)" }
    }

    /// The origin of the server that the request goes to.
    public var origin: Origin {
        Origin(scheme: (head.scheme ?? "").lowercased(), authority: (head.authority ?? "").lowercased())
    }
}
