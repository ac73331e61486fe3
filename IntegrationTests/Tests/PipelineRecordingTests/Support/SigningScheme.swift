import Foundation
import Pipeline
import PipelineHashes
import PipelineSigning

/// A scheme that signs requests, with a key and, for AWS, a session token.
enum SigningScheme: CaseIterable {
    case awsFields
    case awsQuery
    case message
    case webhook
    case closure

    private static let field = "X-Check"

    /// Returns a plugin and the value that it signs with.
    func plugin(key: String, token: String) throws -> (plugin: SigningPlugin, signer: Any) {
        func made(_ signer: some RequestSigner) -> (SigningPlugin, Any) { (SigningPlugin(signer), signer) }
        switch self {
        case .awsFields, .awsQuery:
            let placement: AWSSigner.Placement = self == .awsFields ? .header : .query(expires: .seconds(60))
            return made(
                AWSSigner(region: "r", service: "s3", placement: placement) { _ in
                    AWSCredentials(accessKeyID: "AKID", secretAccessKey: key, sessionToken: token)
                }
            )
        case .message:
            let signingKey = try MessageSigningKey(rawRepresentation: Data(key.utf8), algorithm: .hmacSHA256)
            return made(
                MessageSigner(
                    components: [.method, .targetURI, .contentDigest],
                    key: signingKey,
                    keyID: "k1",
                    includesNonce: true
                )
            )
        case .webhook:
            let secret = Data("\(key) of a webhook".utf8).base64EncodedString()
            return made(WebhookSigner(keys: [try WebhookKey("whsec_" + secret)]))
        case .closure:
            let plugin = SigningPlugin { request, context in
                let time = Int(context.clock.date.timeIntervalSince1970 * 1_000)
                let hash = SHA256.hash(Array("\(key) \(time) \(request.head.path ?? "")".utf8))
                let text = hash.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
                try request.setHeader("t=\(time),v1=\(text)", for: Self.field)
            }
            return (plugin, plugin)
        }
    }

    /// Returns the signature of a request, without what surrounds it.
    func signature(of request: PipelineRequest) -> String? {
        switch self {
        case .awsFields: Self.text(after: "Signature=", in: request.headers[.authorization])
        case .awsQuery: Self.text(after: "X-Amz-Signature=", in: request.query)
        case .message: Self.text(after: "sig1=:", in: request.header("Signature"))
        case .webhook: Self.text(after: "v1,", in: request.header("webhook-signature"))
        case .closure: Self.text(after: "v1=", in: request.header(Self.field))
        }
    }

    private static func text(after mark: String, in text: String?) -> String? {
        guard let text, let range = text.firstRange(of: mark) else { return nil }
        return String(text[range.upperBound...].prefix { !"&:,".contains($0) })
    }
}
