import Foundation
import Pipeline
import PipelineAuth
import PipelineTesting
import TestSupport
import Testing

@Suite("OAuthPlugin: client credentials", .tags(.concurrent), .watched)
struct OAuthClientCredentialsTests {
    @Test("Calls obtain one token without a sign-in, and send it")
    func obtains() async throws {
        let bench = OAuthBench()
        let provider = bench.provider(bench.plugin(client: OAuthBench.confidential))
        try await bench.clock.run {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<5 { group.addTask { _ = try await provider.request(.list) } }
                try await group.waitForAll()
            }
        }
        #expect(bench.tokenForms == [["grant_type": "client_credentials", "scope": "read write"]])
        #expect(bench.authorizations == Array(repeating: "Bearer CANARY-access-1", count: 5))
        let sent = bench.received.first { $0.path == "/token" }?.headers
        #expect(sent?[.authorization] == "Basic " + Data("re%20ports:CANARY%3Asecret".utf8).base64EncodedString())
        #expect(sent?[.contentType] == "application/x-www-form-urlencoded")
        #expect(sent?[.accept] == "application/json")
    }

    @Test("The token is obtained again before it expires, and after a refusal")
    func renews() async throws {
        let bench = OAuthBench { request, number in
            request.path == "/items" && number == 3 ? .status(401) : nil
        }
        let provider = bench.provider(bench.plugin())
        try await bench.clock.run {
            _ = try await provider.request(.list)
            try await bench.clock.sleep(for: .seconds(3_539))
            _ = try await provider.request(.list)
            #expect(bench.tokenForms.count == 1)
            // Refused once.
            _ = try await provider.request(.list)
            #expect(bench.tokenForms.count == 2)
            try await bench.clock.sleep(for: .seconds(3_541))
            _ = try await provider.request(.list)
        }
        #expect(bench.tokenForms.allSatisfy { $0["grant_type"] == "client_credentials" })
        #expect(bench.authorizations.map { $0?.last } == ["1", "1", "1", "2", "3"])
    }

    @Test("A10 If the only call that waits for a token is cancelled, the token is kept, and the next call uses it")
    func cancelled() async throws {
        let bench = OAuthBench { request, number in
            request.path == "/token" ? .delayed(.seconds(1), OAuthBench.tokens(number)) : nil
        }
        let provider = bench.provider(bench.plugin())
        try await bench.clock.run {
            let start = bench.clock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await provider.request(.list) }
                try await bench.clock.sleep(for: .milliseconds(500))
                group.cancelAll()
                await #expect(throws: CancellationError.self) { try await group.next() }
            }
            #expect(start.duration(to: bench.clock.now) == .milliseconds(500))
            _ = try await provider.request(.list)
        }
        #expect(bench.tokenForms.count == 1)
        #expect(bench.authorizations == ["Bearer CANARY-access-1"])
    }

    @Test("A client without a secret sends its identifier; one with a secret can send both in the form")
    func authentication() async throws {
        let bench = OAuthBench()
        let clients = [
            OAuthClient.public(id: "cli"), .confidential(id: "cli", secret: "CANARY", authentication: .post),
        ]
        for client in clients { try await bench.plugin(client: client, store: nil).signIn() }
        #expect(bench.tokenForms.map { $0["client_id"] } == ["cli", "cli"])
        #expect(bench.tokenForms.map { $0["client_secret"] } == [nil, "CANARY"])
        #expect(bench.received.allSatisfy { $0.headers[.authorization] == nil })
    }

    @Test("A target that asks for no token gets none, and obtains none")
    func open() async throws {
        let bench = OAuthBench()
        _ = try await bench.provider(bench.plugin()).request(.open)
        #expect(bench.authorizations == [nil])
        #expect(bench.tokenForms.isEmpty)
    }

    @Test("A failed request for a token fails the call with the error of the server")
    func failure() async throws {
        let bench = OAuthBench { request, _ in
            request.path == "/token" ? OAuthBench.failure("invalid_client", 401) : nil
        }
        let provider = bench.provider(bench.plugin())
        let error = await oauthError { _ = try await provider.request(.list) }
        #expect(error?.code == .tokenRefresh)
        let cause = error?.underlyingError as? PipelineError
        #expect(cause?.code == .oauth(.server))
        #expect((cause?.underlyingError as? OAuthServerError)?.error == "invalid_client")
    }
}
