import HTTPTypes
public import PipelineCore

extension PipelineRequest {
    /// Sets Authorization to the scheme and the token, and marks it as secret.
    ///
    /// - Throws: `PipelineError` with code `invalidRequest.credential` if the scheme cannot carry the token, and
    ///   `invalidRequest.headerValue` if no header field can. The error does not show the token.
    public mutating func setAccessToken(_ token: String, _ type: AuthorizationType) throws {
        guard type.canCarry(token) else {
            throw PipelineError(
                .invalidRequest(.credential),
                type == .basic ? "the token for Basic is not base64" : "the access token is not one word"
            )
        }
        try setHeader(type.scheme + " " + token, for: .authorization, isSecret: true)
    }
}

extension AuthorizationType {
    /// Returns whether the scheme can carry a token.
    ///
    /// Stricter than a field value, looser than the grammar of RFC 6750, because some servers issue tokens with a `|`.
    fileprivate func canCarry(_ token: String) -> Bool {
        switch self {
        case .basic: token.utf8.allSatisfy { Self.isBase64($0) }
        case .bearer: token.utf8.allSatisfy { $0 != 0x20 && $0 != 0x09 && $0 != 0x2c && $0 != 0x22 }
        default: true
        }
    }

    private static func isBase64(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        default: "+/=-_".utf8.contains(byte)
        }
    }
}
