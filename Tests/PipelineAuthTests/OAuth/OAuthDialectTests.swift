import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineAuth

@Suite("OAuthPlugin: servers that differ from the standard", .tags(.concurrent), .watched)
struct OAuthDialectTests {
    private static func isRefresh(_ request: OAuthBench.Received) -> Bool {
        request.form["grant_type"] == "refresh_token"
    }

    // MARK: Errors with status 200

    @Test("A11 An error with status 200 has its name in each grant", arguments: [true, false])
    func namedError(isUser: Bool) async throws {
        let bench = OAuthBench { request, _ in
            request.path == "/token" ? OAuthBench.failure("incorrect_client_credentials", 200) : nil
        }
        let oauth = isUser ? bench.plugin(grant: OAuthBench.browser()) : bench.plugin()
        let error = await oauthError { try await oauth.signIn() }
        #expect(error?.code == .oauth(.server))
        #expect(error?.serverError == "incorrect_client_credentials")
    }

    @Test("A11 Pending polls with status 200, 403 and 428 go on; slow_down adds 5 s", arguments: [200, 403, 428])
    func pending(status: Int) async throws {
        let bench = OAuthBench { request, number in
            guard request.path == "/token", number < 3 else { return nil }
            return OAuthBench.failure(number == 1 ? "authorization_pending" : "slow_down", status)
        }
        try await bench.clock.run { try await bench.plugin(grant: .device { _ in }).signIn() }
        #expect(bench.received.filter { $0.path == "/token" }.map(\.second) == [5, 10, 20])
    }

    @Test(
        "A11 A refused refresh with status 200 ends the session",
        arguments: ["invalid_grant", "bad_refresh_token"]
    )
    func refusedRefresh(name: String) async throws {
        let bench = OAuthBench { request, _ in Self.isRefresh(request) ? OAuthBench.failure(name, 200) : nil }
        let oauth = bench.plugin(grant: OAuthBench.browser())
        try await oauth.signIn()
        bench.clock.advance(by: .seconds(4_000))
        let error = await oauthError { _ = try await bench.provider(oauth).request(.list) }
        #expect(error?.code == .sessionEnded)
        #expect(bench.store.load(OAuthBench.storeKey) == nil)
    }

    @Test("A11 Another error of a refresh with status 200 keeps the session, and its tokens are not replaced")
    func otherRefreshError() async throws {
        let bench = OAuthBench { request, number in
            Self.isRefresh(request) && number == 2 ? OAuthBench.failure("temporarily_unavailable", 200) : nil
        }
        let oauth = bench.plugin(grant: OAuthBench.browser())
        try await oauth.signIn()
        bench.clock.advance(by: .seconds(4_000))
        let provider = bench.provider(oauth)
        #expect(await oauthError { _ = try await provider.request(.list) }?.code == .tokenRefresh)
        _ = try await provider.request(.list)
        #expect(bench.tokenForms.compactMap { $0["refresh_token"] } == ["CANARY-refresh-1", "CANARY-refresh-1"])
    }

    @Test("A11 An error beside an access token is ignored; one beside null or an empty token is thrown")
    func errorAndToken() async throws {
        for (token, isError) in [(#""t""#, false), ("null", true), (#""""#, true)] {
            let bench = OAuthBench { request, _ in
                request.path == "/token"
                    ? .status(200, body: #"{"error": "odd", "token_type": "Bearer", "access_token": \#(token)}"#) : nil
            }
            let error = await oauthError { try await bench.plugin().signIn() }
            #expect(error?.serverError == (isError ? "odd" : nil))
        }
    }

    @Test("A11 A revocation that is refused with status 200 throws the error")
    func revocation() async throws {
        let bench = OAuthBench { request, _ in
            request.path == "/revoke" ? OAuthBench.failure("unauthorized_client", 200) : nil
        }
        let oauth = bench.plugin(grant: OAuthBench.browser())
        try await oauth.signIn()
        #expect(await oauthError { try await oauth.signOut() }?.serverError == "unauthorized_client")
    }

    // MARK: Members

    @Test(
        "A13 A lifetime as text is read, and any other value counts as none",
        arguments: [
            (#""3600""#, 2), ("3600", 2), ("3600.0", 2), (#""soon""#, 1), ("-1", 1), ("null", 1), ("[1]", 1),
            (#""inf""#, 1), ("1e300", 1),
        ]
    )
    func lifetime(value: String, tokenRequests: Int) async throws {
        let bench = OAuthBench { request, _ in
            request.path == "/token"
                ? .status(200, body: #"{"access_token": "a", "token_type": "Bearer", "expires_in": \#(value)}"#) : nil
        }
        let provider = bench.provider(bench.plugin())
        _ = try await provider.request(.list)
        bench.clock.advance(by: .seconds(3_590))
        _ = try await provider.request(.list)
        #expect(bench.tokenForms.count == tokenRequests)
    }

    @Test(
        "A13 A token without a type is a Bearer token",
        arguments: ["", #""token_type": "","#, #""token_type": null,"#, #""token_type": "bearer","#]
    )
    func tokenType(member: String) async throws {
        let bench = OAuthBench { request, _ in
            request.path == "/token" ? .status(200, body: #"{"access_token": "a", \#(member) "expires_in": 60}"#) : nil
        }
        _ = try await bench.provider(bench.plugin()).request(.list)
        #expect(bench.authorizations == ["Bearer a"])
    }

    @Test(
        "A13 A refresh without a new refresh token keeps the old one",
        arguments: ["", #""refresh_token": null,"#, #""refresh_token": "","#]
    )
    func refreshToken(member: String) async throws {
        let bench = OAuthBench { request, number in
            guard Self.isRefresh(request) else { return nil }
            return .status(200, body: #"{"access_token": "a\#(number)", \#(member) "expires_in": 3600}"#)
        }
        let oauth = bench.plugin(grant: OAuthBench.browser())
        try await oauth.signIn()
        let provider = bench.provider(oauth)
        for _ in 0..<3 {
            bench.clock.advance(by: .seconds(3_601))
            _ = try await provider.request(.list)
        }
        #expect(bench.tokenForms.compactMap { $0["refresh_token"] } == Array(repeating: "CANARY-refresh-1", count: 3))
    }

    @Test("A13 The page of a device code has either name, and members may be text")
    func verificationURL() async throws {
        for name in ["verification_url", "verification_uri"] {
            let bench = OAuthBench { request, _ in
                guard request.path == "/device" else { return nil }
                return .status(
                    200,
                    body: #"""
                        {"device_code": "d", "user_code": "GQVQ-JKEC", "\#(name)": "https://www.test/device",
                         "\#(name)_complete": "https://www.test/device?c", "expires_in": "1800", "interval": "7"}
                        """#
                )
            }
            let shown = LockedList<OAuthDeviceCode>()
            let oauth = bench.plugin(grant: .device { shown.append($0) })
            try await bench.clock.run { try await oauth.signIn() }
            #expect(shown.all.map(\.verificationURL.absoluteString) == ["https://www.test/device"])
            #expect(shown.all.map(\.completeVerificationURL?.absoluteString) == ["https://www.test/device?c"])
            #expect(bench.received.filter { $0.path == "/token" }.map(\.second) == [7])
        }
    }

    @Test("An interval of less than a second counts as none", arguments: ["0", "-3", "0.01", "null"])
    func interval(value: String) async throws {
        let bench = OAuthBench { request, _ in
            guard request.path == "/device" else { return nil }
            return .status(200, body: Self.device(#""interval": \#(value),"#))
        }
        try await bench.clock.run { try await bench.plugin(grant: .device { _ in }).signIn() }
        #expect(bench.received.filter { $0.path == "/token" }.map(\.second) == [5])
    }

    private static func device(
        _ members: String = "",
        page: String = "https://auth.test/a",
        code: String = "u"
    ) -> String {
        #"{"device_code": "d", \#(members) "user_code": "\#(code)", "verification_uri": "\#(page)", "expires_in": 60}"#
    }

    @Test(
        "A complete page that is not for a browser is left out, and the sign-in goes on with the other page",
        arguments: ["javascript:alert(1)", "file:///etc/passwd", "app://auth.test/a", "tel:112", "https:", "a b", ""]
    )
    func badCompletePage(text: String) async throws {
        let bench = OAuthBench { request, _ in
            guard request.path == "/device" else { return nil }
            return .status(200, body: Self.device(#""verification_uri_complete": "\#(text)","#))
        }
        let shown = LockedList<OAuthDeviceCode>()
        try await bench.clock.run { try await bench.plugin(grant: .device { shown.append($0) }).signIn() }
        #expect(shown.all.map(\.completeVerificationURL) == [nil])
        #expect(shown.all.map(\.verificationURL.absoluteString) == ["https://auth.test/a"])
    }

    @Test(
        "A device code whose page is not for a browser, or that could deceive a reader, is refused",
        arguments: [
            ("javascript:alert(1)", "u"), ("file:///etc/passwd", "u"), ("tel:112", "u"), ("https:", "u"), ("", "u"),
            ("https://auth.test/a", ""), ("https://auth.test/a", #"A\u0007B"#), ("https://auth.test/a", #"A\u202eB"#),
            ("https://auth.test/a", #"A\nB"#), ("https://auth.test/a", #"A\u200bB"#),
        ]
    )
    func deceivingCode(page: String, code: String) async throws {
        let bench = OAuthBench { request, _ in
            request.path == "/device" ? .status(200, body: Self.device(page: page, code: code)) : nil
        }
        let shown = LockedList<OAuthDeviceCode>()
        let error = await oauthError { try await bench.plugin(grant: .device { shown.append($0) }).signIn() }
        #expect(error?.code == .oauth(.response))
        #expect(shown.all.isEmpty)
        #expect(bench.tokenForms.isEmpty)
    }
}
