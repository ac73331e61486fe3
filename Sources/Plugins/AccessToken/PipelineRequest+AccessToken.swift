import HTTPTypes
import Pipeline

extension PipelineRequest {
    /// Sets Authorization to a token after its scheme, as a secret.
    ///
    /// - Throws: `PipelineError` with code `invalidRequest.credential` for a token that its scheme cannot carry, and
    ///   `invalidRequest.headerValue` for one that no field can. Neither names the token.
    mutating func setAccessToken(_ token: String, _ type: AuthorizationType) throws {
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
    /// Narrower than what a field may hold, wider than the grammar of RFC 6750: tokens with a `|` are in use.
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
