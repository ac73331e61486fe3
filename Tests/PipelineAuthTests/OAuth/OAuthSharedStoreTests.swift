import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineAuth

/// Two processes, here two plugins, that keep their sessions in one store.
@Suite("OAuthPlugin: a store that other processes use", .watched)
struct OAuthSharedStoreTests {
    private func pair(_ bench: OAuthBench) -> (first: OAuthPlugin, second: OAuthPlugin) {
        (bench.plugin(grant: OAuthBench.browser()), bench.plugin(grant: OAuthBench.browser()))
    }

    private func failure(_ work: () async throws -> Void) async -> PipelineError? {
        do { try await work() } catch { return error as? PipelineError }
        return nil
    }

    @Test("G04: if another user signs in elsewhere, the session ends, and the other credential stays")
    func otherUser() async throws {
        let bench = OAuthBench()
        let (first, second) = pair(bench)
        try await bench.clock.run {
            try await first.signIn()
            try await second.signIn()
            try await bench.clock.sleep(for: .seconds(3_600))
            let error = await failure { _ = try await bench.provider(first).request(.list) }
            #expect(error?.code == .sessionEnded)
            #expect(try await !first.isSignedIn)
            _ = try await bench.provider(second).request(.list)
        }
        #expect(bench.authorizations == ["Bearer CANARY-access-3"])
        #expect(bench.tokenForms.compactMap { $0["refresh_token"] } == ["CANARY-refresh-2"])
    }

    @Test("G04: a sign-out elsewhere ends the session and is not undone")
    func signedOut() async throws {
        let bench = OAuthBench()
        let (first, second) = pair(bench)
        try await bench.clock.run {
            try await first.signIn()
            try await second.signOut()
            try await bench.clock.sleep(for: .seconds(3_600))
            let error = await failure { _ = try await bench.provider(first).request(.list) }
            #expect(error?.code == .sessionEnded)
        }
        #expect(bench.store.load(OAuthBench.storeKey) == nil)
        #expect(bench.tokenForms.count == 1)
    }

    @Test("G04, G08: what a refresh brings after the session has ended elsewhere is revoked and not stored")
    func endedMeanwhile() async throws {
        let store = MemoryCredentialStore()
        let bench = OAuthBench { request, _ in
            if request.form["grant_type"] == "refresh_token" { store.remove(OAuthBench.storeKey) }
            return nil
        }
        let oauth = bench.plugin(grant: OAuthBench.browser(), store: store)
        try await bench.clock.run {
            try await oauth.signIn()
            try await bench.clock.sleep(for: .seconds(3_600))
            let error = await failure { _ = try await bench.provider(oauth).request(.list) }
            #expect(error?.code == .sessionEnded)
        }
        await eventually { bench.revoked.count == 2 }
        #expect(bench.revoked == ["CANARY-refresh-2", "CANARY-access-2"])
        #expect(store.load(OAuthBench.storeKey) == nil)
        #expect(bench.authorizations.isEmpty)
    }

    @Test("A14: of two processes whose clocks differ, neither is signed out, and only a refused credential is removed")
    func clocks() async throws {
        let bench = OAuthBench()
        let (first, second) = pair(bench)
        try await bench.clock.run {
            try await first.signIn()
            #expect(try await second.isSignedIn)
            try await bench.clock.sleep(for: .seconds(3_600))
            _ = try await bench.provider(second).request(.list)
            // The clock of the other process is slow.
            let data = try #require(bench.store.load(OAuthBench.storeKey))
            let stored = try JSONDecoder().decode(OAuthCredential.self, from: data)
            let earlier = OAuthCredential(
                accessToken: stored.accessToken,
                refreshToken: stored.refreshToken,
                isBoundToKey: false,
                expiry: stored.expiry,
                issuedAt: .distantPast,
                key: nil,
                session: stored.session
            )
            bench.store.save(try JSONEncoder().encode(earlier), for: OAuthBench.storeKey)
            _ = try await bench.provider(first).request(.list)
        }
        #expect(bench.authorizations == ["Bearer CANARY-access-2", "Bearer CANARY-access-2"])
        #expect(bench.tokenForms.count == 2)
    }
}
