import Foundation
import Pipeline
import PipelineSigning
import PipelineTesting
import TestSupport
import Testing

/// The samples of the guide Sign requests.
enum SigningSamples {
    typealias Shop = TargetsSamples.Shop

    static func closure(
        _ transport: any Transport,
        _ hmac: @escaping @Sendable (String) -> String
    ) -> Provider<Shop> {
        // sample: closure
        let signing = SigningPlugin { request, context in
            let time = String(Int(context.clock.date.timeIntervalSince1970))
            let text = "\(request.method) \(request.head.path ?? "/") \(time)"
            try request.setHeader(time, for: "X-Time")
            try request.setHeader(hmac(text), for: "X-Signature")
        }
        let provider = Provider<Shop>(transport: transport, plugins: [RetryPlugin(), signing])
        // end
        return provider
    }

    #if Crypto || canImport(CryptoKit)
    struct Vault: Sendable {
        func credentials() async throws -> AWSCredentials {
            AWSCredentials(accessKeyID: "AKIDEXAMPLE", secretAccessKey: "secret")
        }
    }

    static func aws(_ transport: any Transport, _ vault: Vault) -> Provider<Shop> {
        // sample: aws
        let signer = AWSSigner(region: "eu-central-1", service: "s3") { _ in try await vault.credentials() }
        let provider = Provider<Shop>(transport: transport, plugins: [RetryPlugin(), SigningPlugin(signer)])
        // end
        return provider
    }

    static func webhooks(_ transport: any Transport, _ secret: String) throws -> Provider<Shop> {
        // sample: webhooks
        let signer = WebhookSigner(keys: [try WebhookKey(secret)])
        let provider = Provider<Shop>(transport: transport, plugins: [RetryPlugin(), SigningPlugin(signer)])
        // end
        return provider
    }

    static func verify(
        _ request: HTTPRequest,
        _ body: Data,
        _ secret: String
    ) throws -> WebhookVerifier.Message {
        // sample: webhook verifier
        let verifier = WebhookVerifier(keys: [try WebhookKey(secret)])
        let message = try verifier.verify(body, fields: request.headerFields)
        // end
        return message
    }
    #endif
}

@Suite("The samples of the guide Sign requests", .watched)
struct SigningSamplesTests {
    @Test("The closure signs the path and the time")
    func closure() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = SigningSamples.closure(transport) { "<\($0)>" }
        _ = try await provider.request(.item(id: 7))
        let fields = try #require(transport.sent.last).headers
        let names = ["X-Time", "X-Signature"].compactMap { HTTPField.Name($0) }
        let time = try #require(fields[names[0]])
        #expect(fields[names[1]]?.hasSuffix(" \(time)>") == true)
    }

    #if Crypto || canImport(CryptoKit)
    @Test("A request for AWS is signed")
    func aws() async throws {
        let transport = ScriptedTransport(always: .status(200))
        _ = try await SigningSamples.aws(transport, SigningSamples.Vault()).request(.item(id: 7))
        let value = try #require(transport.sent.last?.headers[.authorization])
        #expect(value.hasPrefix("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/"))
    }

    @Test("A webhook is accepted by the receiver")
    func webhooks() async throws {
        let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        let transport = ScriptedTransport(always: .status(200))
        _ = try await SigningSamples.webhooks(transport, secret).request(.item(id: 7))
        let request = try #require(transport.sent.last)
        #expect(try SigningSamples.verify(request.head, Data(), secret).id.hasPrefix("msg_"))
    }
    #endif
}
