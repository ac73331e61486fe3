import Foundation
import Pipeline
import PipelineHashes
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineAuth

@Suite("OAuthPlugin: authorization code with PKCE", .tags(.concurrent), .watched)
struct OAuthAuthorizationTests {
    @Test("The hash of the verifier is that of the sample in RFC 7636")
    func vector() throws {
        let verifier: [UInt8] = [
            116, 24, 223, 180, 151, 153, 224, 37, 79, 250, 96, 125, 216, 173, 187, 186, 22, 212, 37, 77, 105, 214, 191,
            240, 91, 88, 5, 88, 83, 132, 141, 121,
        ]
        let metadata = OAuthMetadata(
            authorizationEndpoint: OAuthBench.url("https://auth.test/a"),
            tokenEndpoint: OAuthBench.issuer
        )
        let authorization = OAuthAuthorization(OAuthBench.url("myapp://cb"), metadata) { Array(verifier.prefix($0)) }
        #expect(authorization.verifier == "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
        let url = try authorization.url("cli", []).absoluteString
        #expect(url.hasSuffix("&code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256"))
        #expect("\(authorization)\(String(reflecting: authorization))".contains(authorization.verifier) == false)
    }

    @Test("The browser gets the state and the challenge, the token endpoint the code and the verifier")
    func flow() async throws {
        let opened = LockedList<URL>()
        let bench = OAuthBench()
        let oauth = bench.plugin(
            grant: .authorizationCode(redirect: OAuthBench.url("myapp://callback"), scopes: ["read", "a/b"]) { url in
                opened.append(url)
                let state = FormText.items(of: url.query(percentEncoded: true) ?? "").first { $0.name == "state" }
                return OAuthBench.url("myapp://callback?state=\(state?.value ?? "")&code=CANARY%2Bcode")
            }
        )
        try await oauth.signIn()
        let url = try #require(opened.all.first)
        let items = FormText.items(of: url.query(percentEncoded: true) ?? "")
        #expect(
            items.map(\.name) == [
                "audience", "response_type", "client_id", "redirect_uri", "state", "code_challenge",
                "code_challenge_method", "scope",
            ]
        )
        #expect(items.last?.value == "read a/b")
        let form = try #require(bench.tokenForms.first)
        #expect(form["code"] == "CANARY+code")
        #expect(form["redirect_uri"] == "myapp://callback")
        #expect(form["client_id"] == "cli")
        let verifier = try #require(form["code_verifier"])
        #expect((43...128).contains(verifier.utf8.count))
        let challenge = Base64URL.text(of: SHA256.hash(Array(verifier.utf8)))
        #expect(items.first { $0.name == "code_challenge" }?.value == challenge)
        _ = try await bench.provider(oauth).request(.list)
        #expect(bench.authorizations == ["Bearer CANARY-access-1"])
    }

    @Test("Each sign-in has its own state and verifier")
    func fresh() async throws {
        let bench = OAuthBench()
        let states = LockedList<String>()
        let grant = OAuthBench.browser {
            states.append($0)
            return "code=CANARY-code&state=\($0)"
        }
        let oauth = bench.plugin(grant: grant)
        for _ in 0..<3 { try await oauth.signIn() }
        #expect(Set(states.all).count == 3)
        #expect(Set(bench.tokenForms.compactMap { $0["code_verifier"] }).count == 3)
    }

    @Test(
        "A response that does not belong to the sign-in is refused, and its code is not used",
        arguments: [
            ("code=c", "oauth.state"), ("code=c&state=", "oauth.state"), ("code=c&state=STATEx", "oauth.state"),
            ("code=c&state=STATE&state=STATE", "oauth.state"), ("error=access_denied&state=x", "oauth.state"),
            ("code=c&state=STATE&iss=https%3A%2F%2Fevil.test", "oauth.issuer"),
            ("code=c&state=STATE&iss=https%3A%2F%2Fauth.test%2Ftenant%2F", "oauth.issuer"),
            ("code=c&state=STATE&iss=https%3A%2F%2Fauth.test%2Ftenant&iss=https%3A%2F%2Fevil.test", "oauth.issuer"),
            ("error=access_denied&state=STATE", "oauth.denied"), ("error=server_error&state=STATE", "oauth.server"),
            ("state=STATE", "oauth.response"), ("code=&state=STATE", "oauth.response"),
            ("code=c&code=d&state=STATE", "oauth.response"),
        ]
    )
    func refusals(query: String, code: String) async throws {
        let bench = OAuthBench()
        let oauth = bench.plugin(grant: OAuthBench.browser { query.replacingOccurrences(of: "STATE", with: $0) })
        let error = await oauthError { try await oauth.signIn() }
        #expect(error?.code.rawValue == code)
        #expect(bench.tokenForms.isEmpty)
        #expect(try await !oauth.isSignedIn)
    }

    @Test("The issuer of the response is accepted if it is the server's", arguments: [true, false])
    func issuer(isSent: Bool) async throws {
        let bench = OAuthBench { request, _ in
            guard request.path.hasPrefix("/.well-known") else { return nil }
            return .status(
                200,
                body: #"""
                    {"issuer": "https://auth.test/tenant", "authorization_endpoint": "https://auth.test/authorize",
                     "token_endpoint": "https://auth.test/token",
                     "authorization_response_iss_parameter_supported": true}
                    """#
            )
        }
        let grant = OAuthBench.browser {
            "code=c&state=\($0)" + (isSent ? "&iss=https%3A%2F%2Fauth.test%2Ftenant" : "")
        }
        let oauth = bench.plugin(.discovered(at: OAuthBench.issuer), grant: grant)
        let error = await oauthError { try await oauth.signIn() }
        #expect(error?.code == (isSent ? nil : .oauth(.issuer)))
    }

    @Test(
        "A response at another URL than the redirect is refused",
        arguments: ["other://callback", "myapp://other", "myapp://callback/x", "myapp://callback:1"]
    )
    func otherURL(url: String) async throws {
        let bench = OAuthBench()
        let grant = OAuthGrant.authorizationCode(redirect: OAuthBench.url("myapp://callback")) { opened in
            let state = FormText.items(of: opened.query(percentEncoded: true) ?? "").first { $0.name == "state" }
            return OAuthBench.url(url + "?code=c&state=\(state?.value ?? "")")
        }
        let error = await oauthError { try await bench.plugin(grant: grant).signIn() }
        #expect(error?.code == .oauth(.state))
    }

    @Test("A second sign-in is refused while the first is in progress, and allowed afterwards")
    func concurrent() async throws {
        let bench = OAuthBench()
        let (hasOpened, mayReturn) = (Gate(), Gate())
        let grant = OAuthBench.browser { state in
            hasOpened.open()
            await mayReturn.wait()
            return "code=c&state=\(state)"
        }
        let oauth = bench.plugin(grant: grant)
        let first = Task { try await oauth.signIn() }
        await hasOpened.wait()
        let error = await oauthError { try await oauth.signIn() }
        #expect(error?.code == .oauth(.signInProgress))
        mayReturn.open()
        try await first.value
        try await oauth.signIn()
        #expect(bench.tokenForms.count == 2)
    }

    @Test("A sign-out during a sign-in wins: the session does not begin")
    func signOutMeanwhile() async throws {
        let bench = OAuthBench()
        let (hasOpened, mayReturn) = (Gate(), Gate())
        let grant = OAuthBench.browser { state in
            hasOpened.open()
            await mayReturn.wait()
            return "code=c&state=\(state)"
        }
        let oauth = bench.plugin(grant: grant)
        let first = Task { try await oauth.signIn() }
        await hasOpened.wait()
        try await oauth.signOut()
        mayReturn.open()
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(bench.revoked == ["CANARY-refresh-1", "CANARY-access-1"])
        #expect(try await !oauth.isSignedIn)
        #expect(try await !bench.plugin(grant: grant).isSignedIn)
    }
}
