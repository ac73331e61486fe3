import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineAuth

@Suite("OAuthPlugin: the authorization server", .tags(.concurrent), .watched)
struct OAuthServerTests {
    private static let metadata =
        #"{"issuer": "https://auth.test/tenant", "token_endpoint": "https://auth.test/token"}"#

    @Test(
        "The well-known places of an issuer",
        arguments: [
            ("https://auth.test", "", ""), ("https://auth.test/", "", ""), ("https://auth.test/a/b", "/a/b", "/a/b"),
            ("https://auth.test/a/", "/a", "/a"), ("https://auth.test/%C3%A4", "/%C3%A4", "/%C3%A4"),
        ]
    )
    func places(issuer: String, inserted: String, appended: String) {
        #expect(
            OAuthMetadata.places(of: OAuthBench.url(issuer)).map(\.absoluteString) == [
                "https://auth.test/.well-known/oauth-authorization-server" + inserted,
                "https://auth.test" + appended + "/.well-known/openid-configuration",
            ]
        )
    }

    @Test("The metadata is read once, at the second place if the first has none", arguments: [1, 2])
    func discovery(place: Int) async throws {
        let bench = OAuthBench { request, number in
            guard request.path.contains("/.well-known/") else { return nil }
            let isOpenID = request.path.hasSuffix("openid-configuration")
            return isOpenID == (place == 2) ? .status(200, body: Self.metadata) : .status(404)
        }
        let oauth = bench.plugin(.discovered(at: OAuthBench.issuer))
        for _ in 0..<2 { try await oauth.signIn() }
        #expect(bench.received.count { $0.path.contains("/.well-known/") } == place)
        #expect(bench.tokenForms.count == 2)
    }

    @Test(
        "A12 A well-known place that responds with a page or a list is skipped",
        arguments: ["<html>", "[]", "1", ""]
    )
    func otherContent(body: String) async throws {
        let bench = OAuthBench { request, _ in
            guard request.path.contains("/.well-known/") else { return nil }
            return .status(200, body: request.path.hasSuffix("openid-configuration") ? Self.metadata : body)
        }
        try await bench.plugin(.discovered(at: OAuthBench.issuer)).signIn()
        #expect(bench.tokenForms.count == 1)
    }

    @Test(
        "Metadata of another issuer, or that cannot be read, is refused",
        arguments: [
            (#"{"issuer": "https://auth.test/tenant/", "token_endpoint": "https://auth.test/token"}"#, "oauth.issuer"),
            (#"{"issuer": "https://evil.test", "token_endpoint": "https://evil.test/token"}"#, "oauth.issuer"),
            (#"{"token_endpoint": "https://evil.test/token"}"#, "oauth.issuer"),
            (#"{"issuer": "https://auth.test/tenant"}"#, "oauth.response"), ("CANARY", "oauth.response"),
            (#"{"issuer": "https://auth.test/tenant", "token_endpoint": "http://auth.test/token"}"#, "oauth.endpoint"),
        ]
    )
    func badMetadata(body: String, code: String) async throws {
        let bench = OAuthBench { request, _ in request.path.contains("/.well-known/") ? .status(200, body: body) : nil }
        let error = await oauthError { try await bench.plugin(.discovered(at: OAuthBench.issuer)).signIn() }
        #expect(error?.code.rawValue == code)
        #expect("\(String(describing: error))".contains("CANARY") == false)
        #expect(bench.tokenForms.isEmpty)
    }

    @Test(
        "Endpoints must use https or a loopback address",
        arguments: ["http://auth.test/token", "ftp://auth.test/token"]
    )
    func endpoints(endpoint: String) async throws {
        let bench = OAuthBench()
        let plugin = bench.plugin(OAuthServer(tokenEndpoint: OAuthBench.url(endpoint)))
        let error = await oauthError { try await plugin.signIn() }
        #expect(error?.code == .oauth(.endpoint))
        #expect(bench.received.isEmpty)
        let local = OAuthServer(tokenEndpoint: OAuthBench.url("http://127.0.0.1:1/token"))
        try await bench.plugin(local).signIn()
    }

    @Test(
        "A response without a usable token is refused",
        arguments: [
            "CANARY", "{}", #"["CANARY"]"#, #"{"access_token": "", "token_type": "Bearer"}"#,
            #"{"access_token": null, "token_type": "Bearer"}"#,
            #"{"access_token": "CANARY", "token_type": "mac"}"#, #"{"access_token": "CANARY", "token_type": "DPoP"}"#,
        ]
    )
    func badTokens(body: String) async throws {
        let bench = OAuthBench { request, _ in request.path == "/token" ? .status(200, body: body) : nil }
        let error = await oauthError { try await bench.plugin().signIn() }
        #expect(error?.code == .oauth(.response))
        #expect("\(String(describing: error)) \(String(reflecting: error))".contains("CANARY") == false)
    }

    @Test("A redirect of a token request is not followed, and a response of more than 256 KiB is refused")
    func redirects() async throws {
        let target = try HTTPFields.location("https://evil.test/")
        let bench = OAuthBench { request, number in
            guard request.path == "/token" else { return nil }
            return number == 1
                ? .status(307, headers: target)
                : .status(200, body: String(repeating: " ", count: 300_000))
        }
        let oauth = bench.plugin()
        let error = await oauthError { try await oauth.signIn() }
        #expect(error?.code == .oauth(.response))
        #expect(bench.received.map(\.path) == ["/token"])
        let large = await oauthError { try await oauth.signIn() }
        #expect(large?.code.isKind(of: .limit) == true)
    }

    @Test("Texts of the server are cleaned and shortened, and show no secret that it was sent")
    func texts() {
        let error = OAuthServerError(
            error: "bad\u{1b}\n" + String(repeating: "x", count: 100),
            description: "unknown CANARY-token \u{7}é" + String(repeating: "y", count: 300),
            hiding: ["CANARY-token", "abc"]
        )
        let interrupted = OAuthServerError(
            error: "x",
            description: "CANARY\u{0}-to\u{7f}ken, passé wort",
            hiding: ["CANARY-token", "passé wort"]
        )
        #expect(interrupted.errorDescription == "…, …")
        #expect(error.error.hasPrefix("badxxx") && error.error.count == 64)
        #expect(error.errorDescription?.hasPrefix("unknown … yyy") == true)
        #expect(error.errorDescription?.count == 200)
    }

    /// A log of bodies shows the text of the server's error description as it is, so it is left out then.
    @Test("No secret is in a log, an error, a description, a dump or a timeline", arguments: [false, true])
    func secrets(serverRepeatsThem: Bool) async throws {
        let log = LockedList<String>()
        let bench = OAuthBench { request, number in
            if serverRepeatsThem, request.path == "/token", number == 3 {
                let secrets = request.form.values.joined(separator: " ") + " CANARY:secret"
                return .status(400, body: #"{"error": "invalid_request", "error_description": "\#(secrets)"}"#)
            }
            return request.path == "/items" && number == 2 ? .status(401) : nil
        }
        let logging = LoggingPlugin(
            level: serverRepeatsThem ? .debug : .trace,
            handler: { _, line in log.append(line) }
        )
        var texts: [String] = []
        for (client, grant) in [
            (OAuthClient.public(id: "cli"), OAuthBench.browser()), (OAuthBench.confidential, OAuthBench.browser()),
            (.confidential(id: "x", secret: "CANARY:secret", authentication: .post), .device { _ in }),
        ] {
            let oauth = bench.plugin(client: client, grant: grant, plugins: [logging])
            let provider = bench.provider(logging, oauth)
            await bench.clock.run {
                do {
                    try await oauth.signIn()
                    let response = try await provider.request(.list)
                    log.append("\(response) \(String(describing: response.timeline))")
                    try await bench.clock.sleep(for: .seconds(3_600))
                    _ = try await provider.request(.list)
                } catch {
                    log.append("\(error) \(String(reflecting: error)) \(error.localizedDescription)")
                    var dumped = ""
                    dump(error, to: &dumped)
                    log.append(dumped)
                }
                _ = try? await oauth.signOut()
            }
            var dumped = ""
            dump(oauth, to: &dumped)
            dump(client, to: &dumped)
            texts.append("\(oauth) \(String(reflecting: oauth)) \(client)" + dumped)
        }
        texts += log.all
        #expect(texts.joined().contains("/token"))
        let verifiers = bench.tokenForms.compactMap { $0["code_verifier"] }
        #expect(!verifiers.isEmpty)
        for secret in ["CANARY", "CANARY%3Asecret"] + verifiers {
            #expect(texts.filter { $0.contains(secret) } == [])
        }
    }
}

extension HTTPFields {
    fileprivate static func location(_ url: String) throws -> HTTPFields {
        var fields = HTTPFields()
        fields[.location] = url
        return fields
    }
}
