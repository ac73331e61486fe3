import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineSigning

@Suite("MessageVerifier", .watched)
struct MessageVerifierTests {
    private static let date = Date(timeIntervalSince1970: 1_000_000)
    private static let secret = Data("secret".utf8)

    private static func signed(
        _ components: [SignatureComponent] = [.method, .path],
        algorithm: Bool = false,
        expires: Duration? = nil,
        tag: String? = nil,
        label: String = "sig1",
        at date: Date = date,
        _ request: PipelineRequest? = nil
    ) async throws -> PipelineRequest {
        let signer = MessageSigner(
            components: components,
            key: try MessageSigningKey(rawRepresentation: secret, algorithm: .hmacSHA256),
            keyID: "k1",
            label: label,
            expires: expires,
            tag: tag,
            includesAlgorithm: algorithm
        )
        let body = PipelineBody.bytes(SignatureVectors.body)
        var request = try request ?? PipelineRequest(.post, url: "https://a.test/b?c=d", body: body)
        try await signer.sign(&request, at: date)
        return request
    }

    /// Returns the reason for which a request is refused; `nil` if it is accepted.
    private func refusal(
        _ request: PipelineRequest,
        required: [SignatureComponent] = [.method],
        key: MessageVerificationKey? = nil,
        tag: String? = nil,
        maximumAge: Duration? = .seconds(300),
        body: Data = SignatureVectors.body,
        at date: Date = date
    ) async throws -> MessageSignatureError.Reason? {
        let key = try key ?? MessageVerificationKey(rawRepresentation: Self.secret, algorithm: .hmacSHA256)
        let verifier = MessageVerifier(
            keys: { $0.keyID == "k1" ? key : nil },
            required: required,
            tag: tag,
            maximumAge: maximumAge
        )
        do {
            _ = try await verifier.verify(request: request.head, body: body, at: date)
            return nil
        } catch let error as MessageSignatureError {
            return error.reason
        }
    }

    private func changed(
        _ request: PipelineRequest,
        _ old: String,
        _ new: String,
        in name: HTTPField.Name = .signatureInput
    ) -> PipelineRequest {
        var request = request
        request.headers[name] = request.headers[name]?.replacingOccurrences(of: old, with: new)
        return request
    }

    @Test("A message without a complete signature is refused")
    func missing() async throws {
        var request = try await Self.signed()
        #expect(try await refusal(request) == nil)
        #expect(try await refusal(changed(request, "sig1=", "sig2=")) == .missingSignature)
        request.headers[.signature] = nil
        #expect(try await refusal(request) == .missingSignature)
    }

    @Test("A signature must cover the required components, in the same form")
    func required() async throws {
        let request = try await Self.signed()
        #expect(try await refusal(request, required: [.path, .method]) == nil)
        #expect(try await refusal(request, required: [.query]) == .missingComponent)
        #expect(try await refusal(request, required: [.method.ofRequest]) == .missingComponent)
    }

    @Test("A signature is fresh from its creation to its expiry, with 30 s of clock skew")
    func freshness() async throws {
        let request = try await Self.signed(expires: .seconds(60))
        for (seconds, reason) in [
            (-31.0, MessageSignatureError.Reason.createdInFuture), (-30, nil), (0, nil), (90, nil), (91, .expired),
        ] {
            #expect(try await refusal(request, at: Self.date + seconds) == reason, "\(seconds) s")
        }
        let endless = try await Self.signed()
        #expect(try await refusal(endless, at: Self.date + 330) == nil)
        #expect(try await refusal(endless, at: Self.date + 331) == .expired)
        #expect(try await refusal(endless, maximumAge: nil, at: Self.date + 1_000_000) == nil)
        #expect(try await refusal(changed(endless, ";created=1000000", "")) == .missingCreationTime)
    }

    @Test("The key determines the algorithm, whatever the message states")
    func algorithms() async throws {
        let request = try await Self.signed(algorithm: true)
        #expect(try await refusal(request) == nil)
        #expect(try await refusal(changed(request, "hmac-sha256", "ed25519")) == .algorithmMismatch)
        #expect(try await refusal(changed(request, "hmac-sha256", "none")) == .algorithmMismatch)
        let ed25519 = try MessageVerificationKey(pem: SignatureVectors.Keys.ed25519Public, algorithm: .ed25519)
        #expect(try await refusal(request, key: ed25519) == .algorithmMismatch)
        // The public key must not serve as a shared secret.
        #expect(try await refusal(Self.signed(), key: ed25519) == .signatureMismatch)
    }

    @Test("An unknown key, another message, and another signature are refused")
    func mismatches() async throws {
        var request = try await Self.signed()
        #expect(try await refusal(changed(request, "k1", "k2")) == .unknownKey)
        #expect(try await refusal(changed(request, "sig1=:", "sig1=:AA", in: .signature)) != nil)
        let other = try MessageVerificationKey(rawRepresentation: Data("other".utf8), algorithm: .hmacSHA256)
        #expect(try await refusal(request, key: other) == .signatureMismatch)
        #expect(try await refusal(changed(request, #" "@path""#, "")) == .signatureMismatch)
        request.head.path = "/c"
        #expect(try await refusal(request) == .signatureMismatch)
    }

    @Test("The body must match Content-Digest if the signature covers it")
    func digest() async throws {
        let request = try await Self.signed([.method, .contentDigest])
        #expect(try await refusal(request, required: [.contentDigest]) == nil)
        #expect(try await refusal(request, body: Data()) == .digestMismatch)
        let name = try #require(HTTPField.Name("Content-Digest"))
        let member = SignatureComponent.field(name, .member("sha-256"))
        var partial = try await Self.signed([member])
        #expect(try await refusal(partial, required: [member]) == nil)
        #expect(try await refusal(partial, required: [member], body: Data()) == .digestMismatch)
        // Only the covered member counts, because the other may have been added on the way.
        partial.headers[name]? += ", sha-512=:AA==:"
        #expect(try await refusal(partial, required: [member]) == nil)
        #expect(try await refusal(Self.signed(), body: Data()) == nil)
    }

    @Test(
        "Malformed signature fields are refused",
        arguments: [
            ("(", "sig1=:AA==:"), (#"sig1=("@method");created="1""#, "sig1=:AA==:"),
            (#"sig1=("@method" "@method");created=1000000"#, "sig1=:AA==:"), ("sig1=1", "sig1=:AA==:"),
            (#"sig1=("@method");created=1000000, sig1=("@method");created=1000000"#, "sig1=:AA==:"),
            (#"sig1=("@method");created=1000000"#, "sig1=:AA==:, sig1=:AA==:"),
            (#"sig1=("@method");created=1000000"#, "sig1=aa"), (#"sig1=("@method");created=1.5"#, "sig1=:AA==:"),
            (#"sig1=(method);created=1000000"#, "sig1=:AA==:"), (#"sig1=("@method");keyid=k1"#, "sig1=:AA==:"),
            (#"sig1=("@method");created=1000000"#, "sig1=:A:"),
        ]
    )
    func malformed(input: String, signature: String) async throws {
        var request = try PipelineRequest(url: "https://a.test/")
        request.headers[.signatureInput] = input
        request.headers[.signature] = signature
        #expect(try await refusal(request) == .malformed)
    }

    @Test("Too long fields, too many signatures, and too many components are refused")
    func limits() async throws {
        var request = try await Self.signed()
        let signature = try #require(request.headers[.signature])
        request.headers[.signature] = (0..<9).map { "s\($0)=:AA==:" }.joined(separator: ", ")
        #expect(try await refusal(request) == .limit)
        request.headers[.signature] = signature
        for input in [
            "sig1=(" + (0..<65).map { "\"x\($0)\"" }.joined(separator: " ") + ");created=1000000",
            "sig1=(\"@method\");created=1000000;nonce=\"\(String(repeating: "n", count: 20_000))\"",
            (0..<9).map { "s\($0)=()" }.joined(separator: ","),
        ] {
            request.headers[.signatureInput] = input
            #expect(try await refusal(request) == .limit)
        }
    }

    @Test(
        "Too many members or parameters of a structured field are refused, and as many as are allowed are not",
        arguments: [128, 129]
    )
    func counts(count: Int) async throws {
        let keys = (0..<count).map { "a\($0)" }
        let refused: MessageSignatureError.Reason? = count > 128 ? .limit : nil
        let name = try #require(HTTPField.Name("X-Dict"))
        let parameters = keys.joined(separator: "; ")
        for value in [keys.joined(separator: ", "), "a0=x; \(parameters)", "a0=(1;b);\(parameters)"] {
            var request = try await Self.signed()
            request.headers[name] = value
            let components: [SignatureComponent] = [.method, .field(name, .member("a0"))]
            guard refused == nil else {
                await #expect(throws: MessageSignatureError(.limit)) { try await Self.signed(components, request) }
                request.headers[.signatureInput] = #"sig1=("@method" "x-dict";key="a0");created=1000000;keyid="k1""#
                #expect(try await refusal(request) == .limit)
                continue
            }
            #expect(try await refusal(Self.signed(components, request)) == nil)
        }
        // Separators in quotation marks, and parameters of other members, do not count.
        let text = (0..<64).map { "a\($0)=\"\\\",;,;\";b;c;d" }.joined(separator: ",")
        let message = SignedMessage(try PipelineRequest(url: "https://a.test/", headers: [name: text]).head)
        #expect(try message.value(of: .field(name, .member("a7"))) == #""\",;,;";b;c;d"#)
    }

    @Test("Of several signatures, one that satisfies the verifier is enough")
    func several() async throws {
        let first = try await Self.signed([.path], tag: "proxy", label: "proxy")
        let both = try await Self.signed(tag: "app", label: "app", first)
        #expect(try await refusal(first) == .missingComponent)
        #expect(try await refusal(both) == nil)
        #expect(try await refusal(both, tag: "app") == nil)
        #expect(try await refusal(both, tag: "proxy") == .missingComponent)
        #expect(try await refusal(both, tag: "other") == .missingSignature)
        // Of two failures, the first is thrown; the second would be that it has expired.
        #expect(try await refusal(both, at: Self.date + 331) == .missingComponent)
    }

    @Test("The parameters of a component may be in any order, and unknown parameters of the signature are covered")
    func order() async throws {
        let input = #"sig1=("x-dict";key="a";sf "@method");x=?0;created=1000000;keyid="k1""#
        var request = try PipelineRequest(.post, url: "https://a.test/")
        try request.setHeader("a=1", for: "X-Dict")
        let base =
            "\"x-dict\";key=\"a\";sf: 1\n\"@method\": POST\n\"@signature-params\": " + input.dropFirst(5)
        let key = try MessageSigningKey(rawRepresentation: Self.secret, algorithm: .hmacSHA256)
        request.headers[.signatureInput] = input
        request.headers[.signature] = "sig1=:\(try key.sign(Data(base.utf8)).base64EncodedString()):"
        #expect(try await refusal(request, required: [.method]) == nil)
    }

    @Test("A verifier that requires no component stops the program, because every message would pass")
    func requiresNothing() async {
        await #expect(processExitsWith: .failure) {
            _ = MessageVerifier(keys: { _ in nil }, required: [])
        }
    }

    @Test("An error of the key lookup is passed on")
    func lookup() async throws {
        struct Failure: Error {}
        let request = try await Self.signed()
        let verifier = MessageVerifier(keys: { _ in throw Failure() }, required: [.method])
        await #expect(throws: Failure.self) {
            try await verifier.verify(request: request.head, body: Data(), at: Self.date)
        }
    }
}
