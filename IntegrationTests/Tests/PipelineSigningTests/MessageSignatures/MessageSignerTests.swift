import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineSigning

@Suite("MessageSigner", .watched)
struct MessageSignerTests {
    private static let created = 1_767_225_600

    private let clock = ManualClock()
    private let transport = ScriptedTransport(always: .status(200))

    private static func key() throws -> MessageSigningKey {
        try MessageSigningKey(rawRepresentation: Data("secret".utf8), algorithm: .hmacSHA256)
    }

    private static func signer(
        _ components: [SignatureComponent] = [.method, .contentDigest],
        ifPresent: [SignatureComponent] = [],
        allowsUndigestedStreams: Bool = false
    ) throws -> MessageSigner {
        MessageSigner(
            components: components,
            ifPresent: ifPresent,
            key: try key(),
            keyID: "k1",
            allowsUndigestedStreams: allowsUndigestedStreams
        )
    }

    /// Sends a request through the signer and returns it as the transport got it.
    private func sent(
        _ signer: MessageSigner,
        _ body: PipelineBody = .bytes(SignatureVectors.body),
        headers: HTTPFields = [:]
    ) async throws -> PipelineRequest {
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [
                PluginStack.prepare { request, _ in
                    request.method = .post
                    request.body = body
                    for field in headers { request.headers.append(field) }
                },
                PluginStack.exchange(name: "sign") { request, context, send in
                    var request = request
                    try await signer.sign(&request, context: context)
                    return try await send(request)
                },
            ],
            configuration: .init(clock: clock)
        )
        _ = try await provider.request(Ask())
        return try #require(transport.sent.last)
    }

    private func verify(
        _ request: PipelineRequest,
        _ required: [SignatureComponent] = [.method]
    ) async throws
        -> MessageSignature
    {
        let key = try MessageVerificationKey(rawRepresentation: Data("secret".utf8), algorithm: .hmacSHA256)
        let verifier = MessageVerifier(keys: { $0.keyID == "k1" ? key : nil }, required: required)
        let body = request.body.isConsumed ? SignatureVectors.body : try await request.body.collect(upTo: 1_000_000)
        return try await verifier.verify(request: request.head, body: body, at: clock.date)
    }

    @Test("A request gets three secret fields, which a verifier accepts")
    func fields() async throws {
        let request = try await sent(Self.signer())
        #expect(
            request.header("Signature-Input")
                == #"sig1=("@method" "content-digest");created=\#(Self.created);keyid="k1""#
        )
        #expect(request.header("Content-Digest") == ContentDigest.sha256.fieldValue(for: SignatureVectors.body))
        for name in ["Signature", "Signature-Input", "Content-Digest"] {
            #expect(HTTPField.Name(name).map(request.isSecret) == true)
        }
        #expect(try await verify(request, [.method, .contentDigest]).keyID == "k1")
    }

    @Test("All parameters are signed, in a fixed order, and the nonce is new each time")
    func parameters() async throws {
        var signer = MessageSigner(
            components: [.method],
            key: try Self.key(),
            keyID: "k1",
            label: "app",
            expires: .seconds(300),
            tag: "shop",
            includesNonce: true,
            includesAlgorithm: true
        )
        let first = try await verify(sent(signer)).nonce
        let second = try await verify(sent(signer)).nonce
        #expect(first != nil)
        #expect(first != second)
        signer.makeNonce = { "n" }
        let request = try await sent(signer)
        let parameters =
            ";created=\(Self.created);expires=\(Self.created + 300);nonce=\"n\";alg=\"hmac-sha256\";keyid=\"k1\";tag=\"shop\""
        #expect(request.header("Signature-Input") == "app=(\"@method\")\(parameters)")
        let signature = try await verify(request)
        #expect(signature.tag == "shop")
        #expect(signature.expires == clock.date.addingTimeInterval(300))
    }

    @Test("Optional components are covered only if the request has them")
    func optional() async throws {
        let signer = try Self.signer([.method], ifPresent: [.field(.contentType), .field(.accept)])
        let signature = try await verify(sent(signer, headers: [.accept: "*/*"]))
        #expect(signature.components == [.method, .field(.accept)])
    }

    @Test("A request without a required component is not sent")
    func missing() async throws {
        let signer = try Self.signer([.field(.date)])
        let error = await #expect(throws: PipelineError.self) { try await sent(signer) }
        #expect(
            error?.underlyingError as? MessageSignatureError == MessageSignatureError(.missingComponent, "\"date\"")
        )
        #expect(transport.sent.isEmpty)
    }

    @Test("A file and a stream that can be read again are digested")
    func replayable() async throws {
        let folder = try TemporaryFolder()
        let data = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        let file = try folder.file("body", data)
        let stream = PipelineBody.stream {
            AsyncStream<Data> { continuation in
                for start in stride(from: 0, to: data.count, by: 7_000) {
                    continuation.yield(data[start..<min(start + 7_000, data.count)])
                }
                continuation.finish()
            }
        }
        for body in [PipelineBody.file(file), stream] {
            let request = try await sent(Self.signer(), body)
            #expect(request.header("Content-Digest") == ContentDigest.sha256.fieldValue(for: data))
            _ = try await verify(request, [.contentDigest])
        }
    }

    private static func stream() -> PipelineBody {
        .stream(
            AsyncStream<Data> { continuation in
                continuation.yield(SignatureVectors.body)
                continuation.finish()
            }
        )
    }

    @Test("A stream that can be read once is not sent, unless its digest is known or left out")
    func stream() async throws {
        let error = await #expect(throws: PipelineError.self) { try await sent(Self.signer(), Self.stream()) }
        #expect(error?.code == .invalidRequest(.body))
        #expect(transport.sent.isEmpty)
        let name = try #require(HTTPField.Name("Content-Digest"))
        let known = try await sent(Self.signer(), Self.stream(), headers: [name: SignatureVectors.digest])
        _ = try await verify(known, [.contentDigest])
        let undigested = try await sent(Self.signer(allowsUndigestedStreams: true), Self.stream())
        #expect(undigested.header("Content-Digest") == nil)
        #expect(try await verify(undigested).components == [.method])
    }

    @Test("A Content-Digest that belongs to the body is kept, and another is replaced")
    func existingDigest() async throws {
        let name = try #require(HTTPField.Name("Content-Digest"))
        let kept = try await sent(Self.signer(), headers: [name: SignatureVectors.digest])
        #expect(kept.headers[values: name] == [SignatureVectors.digest])
        for wrong in [SignatureVectors.responseDigest, "md5=:AA==:", "sha-256"] {
            let replaced = try await sent(Self.signer(), headers: [name: wrong])
            #expect(replaced.headers[values: name] == [ContentDigest.sha256.fieldValue(for: SignatureVectors.body)])
        }
    }

    @Test("An absent body counts as empty")
    func absentBody() async throws {
        let request = try await sent(Self.signer(), .absent)
        #expect(request.header("Content-Digest") == ContentDigest.sha256.fieldValue(for: Data()))
        _ = try await verify(request, [.contentDigest])
    }

    @Test("The signature of another party is kept, and one with the same label is replaced")
    func labels() async throws {
        let fields =
            SignatureVectors.signature("proxy", #"("@path");created=1"#, "AQ==")
            + SignatureVectors.signature("sig1", #"("@path");created=1"#, "AQ==")
        let request = try await sent(Self.signer([.method]), headers: SignatureVectors.headers(fields))
        let input = #"proxy=("@path");created=1, sig1=("@method");created=\#(Self.created);keyid="k1""#
        #expect(request.headers[values: .signatureInput] == [input])
        #expect(request.header("Signature")?.hasPrefix("proxy=:AQ==:, sig1=:") == true)
        _ = try await verify(request, [.method])
    }

    @Test("Malformed signature fields are an error")
    func malformed() async throws {
        await #expect(throws: PipelineError.self) {
            try await sent(Self.signer([.method]), headers: [.signatureInput: "("])
        }
        #expect(transport.sent.isEmpty)
    }

    @Test("Neither keys nor signers show the key")
    func secrets() throws {
        let key = try Self.key()
        let signer = try Self.signer()
        let verificationKey = try MessageVerificationKey(rawRepresentation: Data("secret".utf8), algorithm: .hmacSHA256)
        for value in [key, signer, verificationKey] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in [dumped, "\(value)", String(reflecting: value)] {
                #expect(!text.contains("secret"))
                #expect(text.contains("hmac-sha256"))
            }
        }
    }
}
