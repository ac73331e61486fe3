import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineSigning

@Suite("Vectors of RFC 9421", .watched)
struct MessageSignatureTests {
    private typealias Keys = SignatureVectors.Keys
    private typealias Signatures = SignatureVectors.Signatures

    private static let date = Date(timeIntervalSince1970: Double(SignatureVectors.created) + 10)

    private static func verifier(
        _ key: MessageVerificationKey,
        _ required: [SignatureComponent] = [.authority]
    ) -> MessageVerifier {
        MessageVerifier(keys: { _ in key }, required: required)
    }

    struct Example: Sendable, CustomTestStringConvertible {
        let name: String
        let input: String
        let signature: String
        let key: String
        var authority = "example.com"

        var testDescription: String { name }
    }

    private static let rsaExamples = [
        Example(
            name: "b21",
            input: #"();created=1618884473;keyid="test-key-rsa-pss";nonce="b3k2pp5k7z-50gnwp.yemd""#,
            signature: Signatures.b21,
            key: "rsa"
        ),
        Example(
            name: "b22",
            input: ##"("@authority" "content-digest" "@query-param";name="Pet");created=1618884473"##
                + #";keyid="test-key-rsa-pss";tag="header-example""#,
            signature: Signatures.b22,
            key: "rsa"
        ),
        Example(
            name: "b23",
            input: #"("date" "@method" "@path" "@query" "@authority" "content-type" "content-digest" "#
                + #""content-length");created=1618884473;keyid="test-key-rsa-pss""#,
            signature: Signatures.b23,
            key: "rsa"
        ),
    ]

    private static let examples =
        rsaExamples + [
            Example(
                name: "b25",
                input: #"("date" "@authority" "content-type");created=1618884473;keyid="test-shared-secret""#,
                signature: Signatures.b25,
                key: "hmac"
            ),
            Example(
                name: "b26",
                input: #"("date" "@method" "@path" "@authority" "content-type" "content-length")"#
                    + #";created=1618884473;keyid="test-key-ed25519""#,
                signature: Signatures.b26,
                key: "ed25519"
            ),
            Example(
                name: "b3",
                input: #"("@path" "@query" "@method" "@authority" "client-cert");created=1618884473"#
                    + #";keyid="test-key-ecc-p256""#,
                signature: Signatures.b3,
                key: "p256",
                authority: "service.internal.example"
            ),
        ]

    private static func key(_ name: String) throws -> MessageVerificationKey {
        switch name {
        case "hmac": return try MessageVerificationKey(rawRepresentation: Keys.secret, algorithm: .hmacSHA256)
        case "ed25519": return try MessageVerificationKey(pem: Keys.ed25519Public, algorithm: .ed25519)
        case "p256": return try MessageVerificationKey(pem: Keys.p256Public, algorithm: .ecdsaP256SHA256)
        default:
            return try MessageVerificationKey(pem: Keys.rsaPSSPublic, algorithm: .rsaPSSSHA512)
        }
    }

    @Test("The signatures of appendix B are valid, and not with a changed method, path or host", arguments: examples)
    func appendix(example: Example) async throws {
        let fields = SignatureVectors.signature(example.name, example.input, example.signature)
        var request = SignatureVectors.request(authority: example.authority, signature: fields)
        request.headerFields[HTTPField.Name("Client-Cert") ?? .date] = SignatureVectors.clientCertificate
        request.headerFields[.date] = "Tue, 20 Apr 2021 02:07:55 GMT"
        let verifier = Self.verifier(try Self.key(example.key))
        if example.input.hasPrefix("()") {
            // A verifier requires at least one component.
            await #expect(throws: MessageSignatureError(.missingComponent, "\"@authority\"")) {
                try await verifier.verify(request: request, body: SignatureVectors.body, at: Self.date)
            }
            return
        }
        let signature = try await verifier.verify(request: request, body: SignatureVectors.body, at: Self.date)
        #expect(signature.label == example.name)
        #expect(signature.created == Date(timeIntervalSince1970: Double(SignatureVectors.created)))
        request.authority = "example.org"
        await #expect(throws: MessageSignatureError(.signatureMismatch)) {
            try await verifier.verify(request: request, body: SignatureVectors.body, at: Self.date)
        }
    }

    @Test("B.2.4: the signature of the response is valid, and not with another body")
    func response() async throws {
        let input =
            #"("@status" "content-type" "content-digest" "content-length");created=1618884473"#
            + #";keyid="test-key-ecc-p256""#
        let response = SignatureVectors.response(
            signature: SignatureVectors.signature("sig-b24", input, Signatures.b24)
        )
        let verifier = Self.verifier(try Self.key("p256"), [.status, .contentDigest])
        _ = try await verifier.verify(
            response: response,
            body: SignatureVectors.responseBody,
            request: nil,
            at: Self.date
        )
        await #expect(throws: MessageSignatureError(.digestMismatch)) {
            try await verifier.verify(response: response, body: Data(), request: nil, at: Self.date)
        }
    }

    @Test("§2.4: the signature of a response that covers its request is valid, and not for another request")
    func requestResponse() async throws {
        let input =
            #"("@status" "content-digest" "content-type" "@authority";req "@method";req "@path";req "#
            + #""content-digest";req);created=1618884479;keyid="test-key-ecc-p256""#
        let response = SignatureVectors.busyResponse(
            signature: SignatureVectors.signature("reqres", input, Signatures.requestResponse)
        )
        let verifier = Self.verifier(try Self.key("p256"), [.status, .contentDigest, .method.ofRequest])
        var request = SignatureVectors.request()
        let body = SignatureVectors.busyBody
        _ = try await verifier.verify(response: response, body: body, request: request, at: Self.date)
        request.method = .put
        await #expect(throws: MessageSignatureError(.signatureMismatch)) {
            try await verifier.verify(response: response, body: body, request: request, at: Self.date)
        }
        await #expect(throws: MessageSignatureError(.missingComponent, #""@authority";req"#)) {
            try await verifier.verify(response: response, body: body, request: nil, at: Self.date)
        }
    }

    @Test("B.2.5 and B.2.6: the signer makes the same signatures", arguments: ["b25", "b26"])
    func deterministic(name: String) async throws {
        let example = try #require(Self.examples.first { $0.name == name })
        let length = HTTPField.Name("Content-Length") ?? .date
        let components: [SignatureComponent] =
            name == "b25"
            ? [.field(.date), .authority, .field(.contentType)]
            : [.field(.date), .method, .path, .authority, .field(.contentType), .field(length)]
        let key =
            name == "b25"
            ? try MessageSigningKey(rawRepresentation: Keys.secret, algorithm: .hmacSHA256)
            : try MessageSigningKey(pem: Keys.ed25519Private, algorithm: .ed25519)
        let keyID = name == "b25" ? "test-shared-secret" : "test-key-ed25519"
        let signer = MessageSigner(components: components, key: key, keyID: keyID, label: name)
        var request = PipelineRequest(head: SignatureVectors.request(), body: .bytes(SignatureVectors.body))
        try await signer.sign(&request, at: Date(timeIntervalSince1970: Double(SignatureVectors.created)))
        let expected = SignatureVectors.signature(name, example.input, example.signature)
        #expect(request.header("Signature-Input") == expected[0].1)
        #expect(request.header("Signature") == expected[1].1)
    }

    @Test(
        "B.4: a signature survives the changes of appendix B.4 that it does not cover",
        arguments: [
            ("GET", "example.org", "/demo?name1=Value1&Name2=value2", "application/json, */*", true),
            ("GET", "example.org", "/demo?name1=Value1&Name2=value2&param=added", "application/json, */*", true),
            ("POST", "example.com", "/demo?name1=Value1&Name2=value2", "application/json, */*", false),
            ("GET", "example.org", "/demo?name1=Value1&Name2=value2", "*/*, application/json", false),
        ]
    )
    func transforms(method: String, host: String, path: String, accept: String, isValid: Bool) async throws {
        let input = #"("@method" "@path" "@authority" "accept");created=1618884473;keyid="test-key-ed25519""#
        var fields = SignatureVectors.signature("transform", input, Signatures.b4)
        for value in accept.components(separatedBy: ", ") { fields.append(("Accept", value)) }
        let request = HTTPRequest(
            method: HTTPRequest.Method(method) ?? .get,
            scheme: "https",
            authority: host,
            path: path,
            headerFields: SignatureVectors.headers(fields)
        )
        let verifier = Self.verifier(try Self.key("ed25519"))
        let result: Result<MessageSignature, any Error>
        do { result = .success(try await verifier.verify(request: request, body: Data(), at: Self.date)) } catch {
            result = .failure(error)
        }
        #expect(((try? result.get()) != nil) == isValid)
    }
}
