import Foundation
import HTTPTypes
import PipelineCore

/// A credential that is part of a request.
struct APICredential: Sendable {
    enum Kind: Sendable {
        case basic(String, String)
        case bearer(String)
    }

    private let kind: Kind

    init(_ kind: Kind) {
        self.kind = kind
    }

    /// Sets Authorization.
    ///
    /// Unless cleartext is allowed, no plugin can send it in clear text.
    ///
    /// - Throws: `PipelineError` with code `invalidRequest`, without the value in its text.
    func authorize(_ request: inout PipelineRequest, cleartext: CleartextPolicy) throws {
        let value = try value()
        if cleartext == .allowed {
            try request.setHeader(value, for: .authorization, isSecret: true)
        } else {
            try request.setConfidentialHeader(value, for: .authorization)
        }
    }

    private func value() throws -> String {
        switch kind {
        case .basic(let name, let password):
            guard !name.utf8.contains(UInt8(ascii: ":")) else { throw Self.refused("the user name has a colon") }
            for text in [name, password]
            where text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
                throw Self.refused("the user name or the password has a control character")
            }
            let text = "\(name):\(password)".precomposedStringWithCanonicalMapping
            return "Basic " + Data(text.utf8).base64EncodedString()
        case .bearer(let token):
            guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x2c })
            else { throw Self.refused("the token is not one word") }
            return "Bearer " + token
        }
    }

    private static func refused(_ reason: String) -> PipelineError {
        PipelineError(.invalidRequest(.credential), reason)
    }
}
