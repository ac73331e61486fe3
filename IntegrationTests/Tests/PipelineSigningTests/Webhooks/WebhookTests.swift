import Foundation
import Pipeline
import PipelineSigning
import PipelineTesting
import TestSupport
import Testing

@Suite("Webhooks", .watched)
struct WebhookTests {
    private static let id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
    private static let body = Data(#"{"test": 2432232314}"#.utf8)
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    private static let date = Date(timeIntervalSince1970: 1_614_265_330)
    /// The vector of the specification's libraries.
    private static let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

    private static func fields(
        _ signature: String = signature,
        id: String = id,
        timestamp: String = "1614265330"
    ) -> HTTPFields {
        var fields = HTTPFields()
        fields[.named("webhook-id")] = id
        fields[.named("webhook-timestamp")] = timestamp
        fields[.named("webhook-signature")] = signature
        return fields
    }

    private static func verifier(_ keys: String...) throws -> WebhookVerifier {
        WebhookVerifier(keys: try keys.map { try WebhookKey($0) })
    }

    @Test("The vector of the specification is valid, with and without the prefix of the secret")
    func vector() throws {
        for secret in [Self.secret, String(Self.secret.dropFirst(6))] {
            let message = try Self.verifier(secret).verify(Self.body, fields: Self.fields(), at: Self.date)
            #expect(message.id == Self.id)
            #expect(message.timestamp == Self.date)
        }
    }

    @Test("The vector of Svix for Ed25519 is valid, and its private key makes the same signature")
    func asymmetricVector() async throws {
        // https://github.com/svix/svix-webhooks/blob/main/server/svix-server/src/worker.rs; the specification shows it.
        let signature =
            "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg=="
        let publicKey = "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4="
        let privateKey =
            "whsk_6Xb/dCcHpPea21PS1N9VY/NZW723CEc77N4rJCubMbfVKIDij2HKpMKkioLlX0dRqSKJp4AJ6p9lMicMFs6Kvg=="
        for key in [publicKey, privateKey] {
            let verifier = try Self.verifier(key)
            _ = try verifier.verify(Self.body, fields: Self.fields(signature), at: Self.date)
            #expect(throws: WebhookError.self) {
                try verifier.verify(Self.body, fields: Self.fields(signature, id: "msg_other"), at: Self.date)
            }
        }
        // CryptoKit adds randomness to its signatures.
        #if !canImport(CryptoKit)
        #expect(try await Self.signed(with: [privateKey]) == signature)
        #endif
    }

    @Test(
        "One valid signature among others is enough",
        arguments: [
            "v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc= \(signature)", "v2,x \(signature)", "\(signature) v1,?",
        ]
    )
    func several(text: String) throws {
        _ = try Self.verifier(Self.secret).verify(Self.body, fields: Self.fields(text), at: Self.date)
    }

    @Test("With two keys, a message of either is accepted")
    func rotation() throws {
        let other = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()
        _ = try Self.verifier(other, Self.secret).verify(Self.body, fields: Self.fields(), at: Self.date)
        let error = #expect(throws: WebhookError.self) {
            try Self.verifier(other).verify(Self.body, fields: Self.fields(), at: Self.date)
        }
        #expect(error?.reason == .signatureMismatch)
    }

    @Test(
        "A signature of another version, message or form is refused",
        arguments: [
            "v1a,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", "v2,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
            "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", "v1,", ",", "v1,AAAA",
        ]
    )
    func mismatch(text: String) throws {
        let error = #expect(throws: WebhookError.self) {
            try Self.verifier(Self.secret).verify(Self.body, fields: Self.fields(text), at: Self.date)
        }
        #expect(error?.reason == .signatureMismatch)
        let changed = #expect(throws: WebhookError.self) {
            try Self.verifier(Self.secret).verify(Self.body + Data([32]), fields: Self.fields(), at: Self.date)
        }
        #expect(changed?.reason == .signatureMismatch)
    }

    @Test("A timestamp may differ from the current time by the tolerance, and no more")
    func tolerance() throws {
        let verifier = try Self.verifier(Self.secret)
        for (seconds, reason) in [(300.0, nil), (-300, nil), (301, .expired), (-301, .inFuture)]
            as [(
                Double, WebhookError.Reason?
            )]
        {
            let date = Self.date.addingTimeInterval(seconds)
            let result = Result { try verifier.verify(Self.body, fields: Self.fields(), at: date) }
            var found: WebhookError.Reason?
            if case .failure(let error as WebhookError) = result { found = error.reason }
            #expect(found == reason)
        }
    }

    @Test("A field that is missing, repeated or malformed is named")
    func malformed() throws {
        var cases: [(String, HTTPFields)] = [
            ("webhook-id", Self.fields(id: "a.b")), ("webhook-timestamp", Self.fields(timestamp: "hello")),
            ("webhook-timestamp", Self.fields(timestamp: "-1614265330")),
            ("webhook-timestamp", Self.fields(timestamp: "99999999999999999999")),
            ("webhook-signature", Self.fields(Array(repeating: "v1,AAAA", count: 17).joined(separator: " "))),
        ]
        for name in ["webhook-id", "webhook-timestamp", "webhook-signature"] {
            var missing = Self.fields()
            missing[.named(name)] = nil
            var repeated = Self.fields()
            repeated.append(HTTPField(name: .named(name), value: "x"))
            cases += [(name, missing), (name, repeated)]
        }
        for (name, fields) in cases {
            let error = #expect(throws: WebhookError.self) {
                try Self.verifier(Self.secret).verify(Self.body, fields: fields, at: Self.date)
            }
            #expect(error?.reason == .malformed)
            #expect(error?.field == name)
        }
    }

    @Test(
        "A text that is not a key is refused",
        arguments: ["", "whsec_", "whsec_?", "whsec_AAAAAAAAAAAAAAAAAAAA", "whsk_AAAA", "whpk_AAAA", "AAAA"]
    )
    func keys(text: String) {
        let error = #expect(throws: WebhookError.self) { try WebhookKey(text) }
        #expect(error?.reason == .invalidKey)
    }

    @Test("Nothing shows a key")
    func descriptions() throws {
        let key = try WebhookKey(Self.secret)
        for value in [key, WebhookVerifier(keys: [key]), WebhookSigner(keys: [key])] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for text in [dumped, String(reflecting: value), String(describing: value)] {
                #expect(!text.contains("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
                #expect(!text.contains("bytes"))
            }
        }
    }

    // MARK: Sending

    @Test("A sent webhook is signed with each key, keeps its identifier in retries, and is verified by the receiver")
    func sending() async throws {
        let seed = Data((0..<32).map { UInt8($0) }).base64EncodedString()
        let keys = [try WebhookKey(Self.secret), try WebhookKey("whsk_" + seed)]
        let clock = ManualClock()
        let transport = ScriptedTransport { _, index in .status(index == 0 ? 503 : 200) }
        let retry = RetryPlugin(backoff: .constant(.seconds(10)))
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [retry, SigningPlugin(WebhookSigner(keys: keys))],
            configuration: ProviderConfiguration(clock: PipelineClock(clock))
        )
        let ask = Ask(method: .put, task: .requestData(Self.body))
        _ = try await clock.run { try await provider.request(ask) }
        let date = PipelineClock(clock).date
        #expect(transport.sent.count == 2)
        var ids: Set<String> = []
        var times: Set<Date> = []
        for request in transport.sent {
            #expect(request.isSecret(.named("webhook-signature")))
            for key in keys {
                let verifier = WebhookVerifier(keys: [key])
                let message = try verifier.verify(Self.body, fields: request.headers, at: date)
                ids.insert(message.id)
                times.insert(message.timestamp)
            }
        }
        #expect(ids.count == 1)
        #expect(times.count == 2)
    }

    /// Returns the signatures of the specification's message.
    private static func signed(with keys: [String], id: String = id) async throws -> String? {
        let transport = ScriptedTransport { _, _ in .status(200) }
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [SigningPlugin(WebhookSigner(keys: try keys.map { try WebhookKey($0) }))],
            configuration: ProviderConfiguration(clock: PipelineClock(ManualClock(date: date)))
        )
        _ = try await provider.request(Ask(method: .post, task: .requestData(body), headers: ["webhook-id": id]))
        return transport.sent[0].headers[.named("webhook-signature")]
    }

    @Test("The identifier of the request is kept, and signatures equal those of the specification")
    func signing() async throws {
        #expect(try await Self.signed(with: [Self.secret]) == Self.signature)
    }

    @Test("An identifier with a full stop is refused, because it would be ambiguous in a signature")
    func ambiguous() async throws {
        let error = await #expect(throws: PipelineError.self) {
            try await Self.signed(with: [Self.secret], id: "msg.1")
        }
        #expect((error?.underlyingError as? WebhookError)?.reason == .malformed)
    }

    @Test("A stream that can be read only once is refused before anything is sent")
    func stream() async throws {
        let transport = ScriptedTransport { _, _ in .status(200) }
        let stream = PluginStack.prepare(name: "stream") { request, _ in
            request.body = .stream(AsyncStream<Data> { $0.finish() }, byteCount: nil)
        }
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [stream, SigningPlugin(WebhookSigner(keys: [try WebhookKey(Self.secret)]))]
        )
        let error = await #expect(throws: PipelineError.self) { try await provider.request(Ask(method: .post)) }
        #expect(error?.code == .invalidRequest(.body))
        #expect(transport.sent.isEmpty)
    }
}
