import Crypto
import Foundation
import Pipeline
import PipelineHashes
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineAuth

@Suite("OAuthPlugin: DPoP", .tags(.concurrent), .watched)
struct OAuthDPoPTests {
    /// A proof whose signature was verified.
    private struct Proof {
        let header: [String: Any]
        let claims: [String: Any]
        let key: String

        init?(_ text: String?) {
            let parts = (text ?? "").split(separator: ".").map(String.init)
            guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
                let jwk = header["jwk"] as? [String: String], let x = Self.data(jwk["x"]), let y = Self.data(jwk["y"]),
                let key = try? P256.Signing.PublicKey(rawRepresentation: x + y),
                let signature = Self.data(parts[2]).flatMap({ try? P256.Signing.ECDSASignature(rawRepresentation: $0) }
                ),
                key.isValidSignature(signature, for: Data("\(parts[0]).\(parts[1])".utf8))
            else { return nil }
            self.header = header
            self.claims = claims
            self.key = x.base64EncodedString()
        }

        private static func data(_ text: String?) -> Data? {
            guard let text else { return nil }
            let standard = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
            return Data(base64Encoded: standard + String(repeating: "=", count: (4 - text.count % 4) % 4))
        }

        private static func object(_ text: String) -> [String: Any]? {
            data(text).flatMap { try? JSONSerialization.jsonObject(with: $0) as? [String: Any] }
        }
    }

    private func proofs(_ bench: OAuthBench, _ path: String) -> [Proof?] {
        bench.received.filter { $0.path == path }.map { request in
            DPoPProofs.field.flatMap { Proof(request.headers[$0]) }
        }
    }

    private static func nonce(_ nonce: String, challenge: Bool = false) -> HTTPFields {
        var fields = HTTPFields()
        if let name = HTTPField.Name("DPoP-Nonce") { fields[name] = nonce }
        if challenge { fields[.wwwAuthenticate] = #"DPoP error="use_dpop_nonce", error_description="x""# }
        return fields
    }

    private let bound: OAuthBench.Answer = { request, number in
        request.path == "/token" ? OAuthBench.tokens(number, type: "DPoP") : nil
    }

    /// The header of the examples of RFC 9449, with their key.
    private static let exampleHeader = """
        eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2IiwiandrIjp7Imt0eSI6IkVDIiwieCI6Imw4dEZyaHgtMzR0VjNoUklDUkRZ\
        OXpDa0RscEJoRjQyVVFVZldWQVdCRnMiLCJ5IjoiOVZFNGpmX09rX282NHpiVFRsY3VOSmFqSG10NnY5VERWclUwQ2R2R1JEQSIs\
        ImNydiI6IlAtMjU2In19
        """

    @Test(
        "The proofs of RFC 9449 verify, and a proof for the same request makes the same claims",
        arguments: [
            (
                """
                eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIiwiaHRtIjoiUE9TVCIsImh0dSI6Imh0dHBzOi8vc2VydmVyLmV4YW1wbGUuY29tL3Rv\
                a2VuIiwiaWF0IjoxNTYyMjYyNjE2fQ.\
                2-GxA6T8lP4vfrg8v-FdWP0A0zdrj8igiMLvqRMUvwnQg4PtFLbdLXiOSsX0x7NVY-FNyJK70nfbV37xRZT3Lg
                """,
                "POST", "https://server.example.com/token", nil
            ),
            (
                """
                eyJqdGkiOiJlMWozVl9iS2ljOC1MQUVCIiwiaHRtIjoiR0VUIiwiaHR1IjoiaHR0cHM6Ly9yZXNvdXJjZS5leGFtcGxlLm9yZy9w\
                cm90ZWN0ZWRyZXNvdXJjZSIsImlhdCI6MTU2MjI2MjYxOCwiYXRoIjoiZlVIeU8ycjJaM0RaNTNFc05yV0JiMHhXWG9hTnk1OUlp\
                S0NBcWtzbVFFbyJ9.\
                2oW9RP35yRqzhrtNP86L-Ey71EOptxRimPPToA1plemAgR6pxHF8y6-yqyVnmcw6Fy1dqd-jfxSYoMxhAJpLjA
                """,
                "GET", "https://resource.example.org/protectedresource", "Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU"
            ),
        ] as [(String, String, String, String?)]
    )
    func vectors(rest: String, method: String, url: String, token: String?) throws {
        let example = try #require(Proof("\(Self.exampleHeader).\(rest)"))
        let key = try #require(example.header["jwk"] as? [String: String])
        let keyText = try JSONSerialization.data(withJSONObject: key, options: .sortedKeys)
        let thumbprint = Base64URL.text(of: PipelineHashes.SHA256.hash(Array(keyText)))
        #expect(thumbprint == "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I")
        let seconds = try #require(example.claims["iat"] as? Int)
        let proof = try DPoPKey().proof(
            method: method,
            url: url,
            token: token,
            nonce: nil,
            date: Date(timeIntervalSince1970: Double(seconds)),
            id: try #require(example.claims["jti"] as? String)
        )
        let own = try #require(Proof(proof))
        #expect(own.claims as NSDictionary == example.claims as NSDictionary)
        #expect(own.header.keys == example.header.keys)
        #expect((own.header["jwk"] as? [String: String])?.keys == key.keys)
    }

    @Test("Token and resource requests carry a proof for their method, URL and token")
    func claims() async throws {
        let bench = OAuthBench(bound)
        let provider = bench.provider(bench.plugin(dpop: .required))
        try await bench.clock.run { for _ in 0..<2 { _ = try await provider.request(.list) } }
        let token = try #require(proofs(bench, "/token").first ?? nil)
        #expect(token.header["typ"] as? String == "dpop+jwt")
        #expect(token.header["alg"] as? String == "ES256")
        let jwk = try #require(token.header["jwk"] as? [String: String])
        #expect(Set(jwk.keys) == ["kty", "crv", "x", "y"])
        #expect(token.claims["htm"] as? String == "POST")
        #expect(token.claims["htu"] as? String == "https://auth.test/token")
        #expect(token.claims["ath"] == nil)
        #expect(token.claims["iat"] as? Int == Int(PipelineClock(bench.clock).date.timeIntervalSince1970))
        let items = proofs(bench, "/items").compactMap(\.self)
        #expect(items.count == 2)
        #expect(bench.authorizations == ["DPoP CANARY-access-1", "DPoP CANARY-access-1"])
        for item in items {
            #expect(item.claims["htm"] as? String == "GET")
            #expect(item.claims["htu"] as? String == "https://api.test/items")
            let hash = Base64URL.text(of: PipelineHashes.SHA256.hash(Array("CANARY-access-1".utf8)))
            #expect(item.claims["ath"] as? String == hash)
            #expect(item.key == token.key)
        }
        #expect(Set((items + [token]).compactMap { $0.claims["jti"] as? String }).count == 3)
    }

    @Test("A nonce that the token endpoint or the API asks for is used, and a later one replaces it")
    func nonces() async throws {
        let bench = OAuthBench { request, number in
            switch (request.path, number) {
            case ("/token", 1): OAuthBench.failure("use_dpop_nonce", headers: Self.nonce("n1"))
            case ("/token", _): OAuthBench.tokens(number, type: "DPoP")
            case ("/items", 1): .status(401, headers: Self.nonce("n2", challenge: true))
            case ("/items", 2): .status(200, headers: Self.nonce("n3"))
            default: nil
            }
        }
        let provider = bench.provider(bench.plugin(dpop: .required))
        try await bench.clock.run { for _ in 0..<2 { _ = try await provider.request(.list) } }
        #expect(proofs(bench, "/token").map { $0?.claims["nonce"] as? String } == [nil, "n1"])
        #expect(proofs(bench, "/items").map { $0?.claims["nonce"] as? String } == [nil, "n2", "n3"])
        // The challenge for a nonce caused no refresh.
        #expect(bench.tokenForms.count == 2)
    }

    @Test("Requests that are refused at the same time all use the nonce that the server asks for")
    func concurrentNonces() async throws {
        let bench = OAuthBench { request, number in
            guard request.path == "/items" else { return OAuthBench.tokens(number, type: "DPoP") }
            let proof = DPoPProofs.field.flatMap { Proof(request.headers[$0]) }
            let hasNonce = proof?.claims["nonce"] as? String == "n"
            return .delayed(
                .seconds(1),
                hasNonce ? .status(200) : .status(401, headers: Self.nonce("n", challenge: true))
            )
        }
        let provider = bench.provider(bench.plugin(dpop: .required))
        try await bench.clock.run {
            async let first = provider.request(.list)
            async let second = provider.request(.list)
            _ = try await (first, second)
        }
        #expect(proofs(bench, "/items").count == 4)
        #expect(bench.tokenForms.count == 1)
    }

    @Test("A server that repeats its nonce challenge is not asked a third time")
    func repeatedNonce() async throws {
        let bench = OAuthBench { request, number in
            request.path == "/token" ? OAuthBench.failure("use_dpop_nonce", headers: Self.nonce("n")) : nil
        }
        let error = await oauthError { try await bench.plugin(dpop: .required).signIn() }
        #expect(error?.code == .oauth(.server))
        #expect(bench.tokenForms.count == 2)
    }

    /// Responds to each request for tokens after a second, and asks for a nonce in the refresh, or in each first one.
    private func slowNonces(inSignIn: Bool) -> OAuthBench {
        OAuthBench { request, number in
            guard request.path == "/token" else { return nil }
            let asks = number == (inSignIn ? 1 : 2)
            let challenge = OAuthBench.failure("use_dpop_nonce", headers: Self.nonce("n"))
            return .delayed(.seconds(1), asks ? challenge : OAuthBench.tokens(number, type: "DPoP"))
        }
    }

    /// Cancels work after a time, and expects that it then ends at once.
    private func cancel(
        _ bench: OAuthBench,
        after time: Duration,
        _ work: @escaping @Sendable () async throws -> Void
    )
        async throws
    {
        let start = bench.clock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await work() }
            try await bench.clock.sleep(for: time)
            group.cancelAll()
            await #expect(throws: CancellationError.self) { try await group.next() }
        }
        #expect(start.duration(to: bench.clock.now) == time)
    }

    @Test(
        "A10 A refresh whose only caller is cancelled before or after the challenge for a nonce stores its tokens",
        arguments: [Duration.milliseconds(500), .milliseconds(1_500)]
    )
    func cancelledRefresh(time: Duration) async throws {
        let bench = slowNonces(inSignIn: false)
        let oauth = bench.plugin(grant: OAuthBench.browser(), dpop: .required)
        let provider = bench.provider(oauth)
        try await bench.clock.run {
            try await oauth.signIn()
            try await bench.clock.sleep(for: .seconds(3_600))
            let start = bench.clock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await provider.request(.list) }
                try await bench.clock.sleep(for: time)
                group.cancelAll()
                await #expect(throws: CancellationError.self) { try await group.next() }
            }
            #expect(start.duration(to: bench.clock.now) == time)
            _ = try await provider.request(.list)
        }
        #expect(proofs(bench, "/token").map { $0?.claims["nonce"] as? String } == [nil, nil, "n"])
        #expect(bench.tokenForms.compactMap { $0["refresh_token"] } == ["CANARY-refresh-1", "CANARY-refresh-1"])
        #expect(bench.authorizations == ["DPoP CANARY-access-3"])
        let stored = try #require(bench.store.load(OAuthBench.storeKey))
        #expect(try JSONDecoder().decode(OAuthCredential.self, from: stored).refreshToken == "CANARY-refresh-3")
    }

    @Test(
        "A10 If a sign-in is cancelled before or after the challenge for a nonce, the tokens of its code are revoked",
        arguments: [1, 2]
    )
    func cancelledSignIn(requestCount: Int) async throws {
        let bench = slowNonces(inSignIn: true)
        let oauth = bench.plugin(grant: OAuthBench.browser(), dpop: .required)
        let signIn = Task { try await oauth.signIn() }
        await eventually {
            if bench.tokenForms.count < requestCount { bench.clock.advanceIfAnyoneSleeps() }
            return bench.tokenForms.count == requestCount
        }
        signIn.cancel()
        await #expect(throws: CancellationError.self) { try await signIn.value }
        await eventually {
            bench.clock.advanceIfAnyoneSleeps()
            return bench.revoked == ["CANARY-refresh-2", "CANARY-access-2"]
        }
        #expect(bench.tokenForms.map { $0["code"] } == ["CANARY-code", "CANARY-code"])
        #expect(try await !oauth.isSignedIn)
    }

    @Test("A refused token is refreshed with the key of the session, which a later run has, too")
    func refresh() async throws {
        let bench = OAuthBench { request, number in
            if request.path == "/token" { return OAuthBench.tokens(number, type: "dpop") }
            return request.path == "/items" && number == 1 ? .status(401) : nil
        }
        let grant = OAuthBench.browser()
        try await bench.plugin(grant: grant, dpop: .required).signIn()
        let later = bench.plugin(grant: grant, dpop: .required)
        try await bench.clock.run { _ = try await bench.provider(later).request(.list) }
        #expect(bench.tokenForms.map { $0["grant_type"] } == ["authorization_code", "refresh_token"])
        #expect(bench.authorizations == ["DPoP CANARY-access-1", "DPoP CANARY-access-2"])
        let keys = (proofs(bench, "/token") + proofs(bench, "/items")).map { $0?.key }
        #expect(keys.count == 4 && Set(keys).count == 1 && !keys.contains(nil))
        try await bench.plugin(grant: grant, dpop: .required).signIn()
        #expect(proofs(bench, "/token").last??.key != keys[0])
    }

    @Test("A redirect within the origin gets a proof of its own; one to another origin gets neither proof nor token")
    func redirects() async throws {
        let bench = OAuthBench { request, number in
            if request.path == "/token" { return OAuthBench.tokens(number, type: "DPoP") }
            var fields = HTTPFields()
            switch request.path {
            case "/items": fields[.location] = "/moved?x=1"
            case "/moved": fields[.location] = "https://other.test/end"
            default: return .status(200)
            }
            return .status(302, headers: fields)
        }
        let provider = bench.provider(bench.plugin(dpop: .required))
        try await bench.clock.run { _ = try await provider.request(.list) }
        #expect(proofs(bench, "/moved").map { $0?.claims["htu"] as? String } == ["https://api.test/moved"])
        let end = try #require(bench.received.last)
        #expect(end.path == "/end")
        #expect(end.headers[.authorization] == nil)
        #expect(DPoPProofs.field.flatMap { end.headers[$0] } == nil)
    }

    @Test("A bearer token is refused, because it would not be bound to the key")
    func bearer() async throws {
        let bench = OAuthBench()
        let error = await oauthError { try await bench.plugin(dpop: .required).signIn() }
        #expect(error?.code == .oauth(.response))
    }

    @Test("No text shows a key")
    func secrets() throws {
        let key = DPoPKey()
        var dumped = "\(key) \(String(reflecting: key))"
        dump(key, to: &dumped)
        #expect(!dumped.contains(key.data.base64EncodedString()))
        #expect(try DPoPKey(key.data).data == key.data)
        #expect(throws: PipelineError.self) { try DPoPKey(Data([1])) }
    }
}
