import Foundation
import Pipeline
import PipelineAuth
import TestSupport
import Testing

@Suite("End to end: OAuth against Authlib", .besideOAuthServer, .realTime, .watched)
struct OAuthTests {
    private func items(_ provider: Provider<OAuthEnd.API>) async throws -> OAuthEnd.Items {
        try await provider.request(.items).map(OAuthEnd.Items.self)
    }

    // MARK: Flows

    @Test("Client credentials, with the secret in Authorization and in the form", arguments: ["re:ports", "poster"])
    func clientCredentials(client: String) async throws {
        let secret = "se cret+/é"
        let authentication: OAuthClient.Authentication = client == "poster" ? .post : .basic
        let oauth = OAuthEnd.plugin(
            .clientCredentials(scopes: ["read"]),
            .confidential(id: client, secret: secret, authentication: authentication)
        )
        let provider = OAuthEnd.provider(oauth)
        let first = try await items(provider)
        #expect(first.scheme == "Bearer")
        #expect(try await items(provider).token == first.token)
        _ = try await provider.request(.expire(first.token))
        #expect(try await items(provider).token != first.token)
    }

    @Test("Authorization code with PKCE through the loopback redirect, refresh with rotation, and sign-out")
    func authorizationCode() async throws {
        let oauth = OAuthEnd.plugin(OAuthEnd.loopback)
        let provider = OAuthEnd.provider(oauth)
        try await oauth.signIn()
        var tokens = [try await items(provider).token]
        for _ in 0..<2 {
            _ = try await provider.request(.expire(tokens.last ?? ""))
            tokens.append(try await items(provider).token)
        }
        #expect(Set(tokens).count == 3)
        try await provider.signOut()
        #expect(try await !oauth.isSignedIn)
        let (code, _) = await OAuthEnd.failure { _ = try await items(provider) }
        #expect(code == .sessionEnded)
        // The server refuses the token, too.
        let later = OAuthEnd.provider(AccessTokenPlugin { [tokens] _ in tokens.last })
        await #expect(throws: PipelineError.self) { try await items(later) }
    }

    @Test("Device flow, with a user who enters the code")
    func device() async throws {
        let oauth = OAuthEnd.plugin(
            .device(scopes: ["read"]) { code in
                let page = try #require(code.completeVerificationURL)
                #expect(
                    try await OAuthEnd.open(page.appending(queryItems: [.init(name: "allow", value: "1")])).status
                        == 200
                )
            },
            configuration: OAuthEnd.fast
        )
        try await oauth.signIn()
        #expect(try await items(OAuthEnd.provider(oauth)).scheme == "Bearer")
    }

    @Test("Discovery with the metadata of OpenID Connect")
    func openID() async throws {
        let oauth = OAuthEnd.plugin(
            .clientCredentials(),
            .confidential(id: "re:ports", secret: "se cret+/é"),
            at: .discovered(at: OAuthEnd.url("/oidc"))
        )
        #expect(try await items(OAuthEnd.provider(oauth)).scheme == "Bearer")
    }

    @Test("DPoP with nonces of the token endpoint and of the API, also after a refresh and in a later run")
    func proofOfPossession() async throws {
        let store = MemoryCredentialStore()
        try await OAuthEnd.plugin(OAuthEnd.app(), store: store, dpop: .required).signIn()
        let provider = OAuthEnd.provider(OAuthEnd.plugin(OAuthEnd.app(), store: store, dpop: .required))
        let first = try await items(provider)
        #expect(first.scheme == "DPoP")
        _ = try await provider.request(.expire(first.token))
        let second = try await items(provider)
        #expect(second.scheme == "DPoP")
        #expect(second.token != first.token)
        // Without a proof, the token is of no use.
        let thief = OAuthEnd.provider(AccessTokenPlugin { _ in second.token })
        await #expect(throws: PipelineError.self) { try await items(thief) }
    }

    // MARK: Failures

    @Test("A wrong state is refused before the code is used")
    func wrongState() async throws {
        let oauth = OAuthEnd.plugin(
            OAuthEnd.app { URL(string: $0.absoluteString.replacingOccurrences(of: "state=", with: "state=x")) ?? $0 }
        )
        #expect(await OAuthEnd.failure { try await oauth.signIn() }.code == .oauth(.state))
    }

    @Test("A wrong state at the loopback address gets a 404, and the sign-in continues with the right one")
    func wrongStateAtLoopback() async throws {
        let oauth = OAuthEnd.plugin(
            .authorizationCode(scopes: ["read"]) { url in
                let callback = try #require(try await OAuthEnd.open(url).location)
                let wrong = callback.absoluteString.replacingOccurrences(of: "state=", with: "state=x")
                #expect(try await OAuthEnd.open(URL(string: wrong) ?? callback).status == 404)
                #expect(try await OAuthEnd.open(callback).status == 200)
            }
        )
        try await oauth.signIn()
        #expect(try await oauth.isSignedIn)
    }

    @Test("A response of another issuer is refused, and so is metadata of another issuer")
    func wrongIssuer() async throws {
        let server = OAuthServer(
            issuer: OAuthEnd.issuer,
            authorizationEndpoint: OAuthEnd.url("/tenant/authorize-elsewhere"),
            tokenEndpoint: OAuthEnd.url("/tenant/token")
        )
        let mixedUp = OAuthEnd.plugin(OAuthEnd.app(), at: server)
        #expect(await OAuthEnd.failure { try await mixedUp.signIn() }.code == .oauth(.issuer))
        let mixed = OAuthEnd.plugin(OAuthEnd.app(), at: .discovered(at: OAuthEnd.url("/mixed")))
        #expect(await OAuthEnd.failure { try await mixed.signIn() }.code == .oauth(.issuer))
    }

    @Test("A code that was used before is refused by the server")
    func replayedCode() async throws {
        let first = SharedList()
        let oauth = OAuthEnd.plugin(
            OAuthEnd.app { callback in
                guard var parts = URLComponents(url: callback, resolvingAgainstBaseURL: false) else { return callback }
                let code = first.first(parts.queryItems?.first { $0.name == "code" }?.value ?? "")
                parts.queryItems = parts.queryItems?.map { $0.name == "code" ? .init(name: "code", value: code) : $0 }
                return parts.url ?? callback
            }
        )
        try await oauth.signIn()
        let (code, error) = await OAuthEnd.failure { try await oauth.signIn() }
        #expect(code == .oauth(.server))
        #expect(error == "invalid_grant")
    }

    @Test("An expired device code, and one that the user refuses, end the sign-in", arguments: ["expired", "denied"])
    func deviceFailures(reason: String) async throws {
        // The server lets codes for the scope `write` expire at once.
        let oauth = OAuthEnd.plugin(
            .device(scopes: [reason == "expired" ? "write" : "read"]) { code in
                if reason == "denied" { _ = try await OAuthEnd.open(try #require(code.completeVerificationURL)) }
            },
            configuration: OAuthEnd.fast
        )
        let (code, error) = await OAuthEnd.failure { try await oauth.signIn() }
        #expect(code == .oauth(reason == "expired" ? .expired : .denied))
        #expect(error == (reason == "expired" ? "expired_token" : "access_denied"))
    }

    @Test("The server's slow_down makes the polls slower, and the sign-in succeeds when the user has entered the code")
    func slowDown() async throws {
        let (polls, page) = (SharedList(), SharedList())
        // The user enters the code when the server has asked for a slower pace.
        let observer = PluginStack.didReceive { result, _ in
            guard let data = try? result.get().data else { return }
            polls.append(String(decoding: data, as: UTF8.self))
            guard polls.all.last?.contains("slow_down") == true, let url = URL(string: page.first("")) else { return }
            Task { try await OAuthEnd.open(url.appending(queryItems: [.init(name: "allow", value: "1")])) }
        }
        let oauth = OAuthEnd.plugin(
            .device(scopes: ["read"]) { code in page.append(code.completeVerificationURL?.absoluteString ?? "") },
            plugins: [observer],
            configuration: OAuthEnd.fast
        )
        try await oauth.signIn()
        #expect(polls.all.contains { $0.contains("authorization_pending") })
        #expect(polls.all.count { $0.contains("slow_down") } >= 1)
        #expect(polls.all.last?.contains("access_token") == true)
    }

    @Test("A rotated refresh token that is used twice ends both sessions")
    func reusedRefreshToken() async throws {
        let store = MemoryCredentialStore()
        let copy = MemoryCredentialStore()
        let issuer = OAuthEnd.issuer.absoluteString
        let key = "\(issuer.utf8.count) \(issuer) 3 cli 7 default 4 user"
        let first = OAuthEnd.plugin(OAuthEnd.app(), store: store)
        try await first.signIn()
        copy.save(try #require(store.load(key)), for: key)
        let providers = [OAuthEnd.provider(first), OAuthEnd.provider(OAuthEnd.plugin(OAuthEnd.app(), store: copy))]
        let token = try await items(providers[0]).token
        #expect(try await items(providers[1]).token == token)
        _ = try await providers[0].request(.expire(token))
        _ = try await items(providers[0])
        // The thief comes second: the server ends the session of both.
        for provider in providers.reversed() {
            #expect(await OAuthEnd.failure { _ = try await items(provider) }.code == .sessionEnded)
        }
        #expect(store.load(key) == nil && copy.load(key) == nil)
    }
}
