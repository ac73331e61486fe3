import Foundation
import Pipeline
import PipelineSigning

extension Overhead {
    /// Returns cases for signatures, and for a plugin that signs with an empty closure.
    static func signing() -> [Case] {
        let credentials = AWSCredentials(accessKeyID: "AKIDEXAMPLE", secretAccessKey: "secret")
        let aws = AWSSigner(region: "eu-central-1", service: "execute-api") { _ in credentials }
        var cases = [
            request("signing: nothing", plugins: [SigningPlugin { _, _ async throws -> Void in }]),
            request("signing: AWS Signature Version 4", plugins: [SigningPlugin(aws)]),
        ]
        let secret = Data(repeating: 1, count: 32)
        if let key = try? MessageSigningKey(rawRepresentation: secret, algorithm: .hmacSHA256) {
            let message = MessageSigner(components: [.method, .targetURI], key: key, keyID: "client-1")
            cases.append(request("signing: RFC 9421 with HMAC", plugins: [SigningPlugin(message)]))
        }
        return cases
    }
}
