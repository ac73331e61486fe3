import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineAuth

@Suite("OAuthPlugin: a store that fails, or is slow", .watched)
struct OAuthStoreFaultTests {
    /// A store over a network: its changes can fail or take time, and end when their task is cancelled.
    private final class Remote: CredentialStore {
        struct Failure: Error {}

        private struct State {
            var isFailing = false
            var delay = Duration.zero
            var saves: [String] = []
        }

        private let clock: ManualClock
        private let wrapped = MemoryCredentialStore()
        private let state = Mutex(State())

        init(_ clock: ManualClock) { self.clock = clock }

        func set(isFailing: Bool = false, delay: Duration = .zero) {
            state.withLock { ($0.isFailing, $0.delay) = (isFailing, delay) }
        }

        func load(_ key: String) async throws -> Data? { wrapped.load(key) }

        func save(_ credential: Data, for key: String) async throws {
            let (isFailing, delay) = state.withLock { ($0.isFailing, $0.delay) }
            if delay > .zero { try await clock.sleep(for: delay) }
            if isFailing { throw Failure() }
            wrapped.save(credential, for: key)
            let token = token ?? ""
            state.withLock { $0.saves.append(token) }
        }

        func remove(_ key: String) async throws { wrapped.remove(key) }

        /// The access tokens that were stored, in this order.
        var saves: [String] { state.withLock { $0.saves } }

        var token: String? {
            let data = wrapped.load(OAuthBench.storeKey)
            return data.flatMap { try? JSONDecoder().decode(OAuthCredential.self, from: $0) }?.accessToken
        }
    }

    /// Signs in, and makes a call whose refresh brings a credential that the store refuses.
    private func makeUnstored(_ oauth: OAuthPlugin, _ store: Remote, _ bench: OAuthBench) async throws {
        try await oauth.signIn()
        store.set(isFailing: true)
        try await bench.clock.sleep(for: .seconds(3_600))
        _ = try await bench.provider(oauth).request(.list)
    }

    @Test("G08: a credential that cannot be stored is reported and used, and the next call stores it")
    func storedLater() async throws {
        let bench = OAuthBench()
        let store = Remote(bench.clock)
        let failures = Mutex(0)
        let oauth = bench.plugin(
            grant: OAuthBench.browser(),
            store: store,
            onStoreFailure: { error in failures.withLock { $0 += error is Remote.Failure ? 1 : 100 } }
        )
        let provider = bench.provider(oauth)
        try await bench.clock.run {
            try await makeUnstored(oauth, store, bench)
            #expect(store.token == "CANARY-access-1")
            #expect(failures.withLock { $0 } == 1)
            _ = try await provider.request(.list)
            try await bench.clock.sleep(for: .seconds(1))
            #expect(failures.withLock { $0 } == 2)
            store.set()
            _ = try await provider.request(.list)
            try await bench.clock.sleep(for: .seconds(1))
        }
        #expect(store.token == "CANARY-access-2")
        #expect(failures.withLock { $0 } == 2)
        #expect(bench.authorizations == Array(repeating: "Bearer CANARY-access-2", count: 3))
    }

    @Test("G08: a call that is cancelled while a credential is stored again leaves the session as it is")
    func cancelledWhileStoring() async throws {
        let bench = OAuthBench()
        let store = Remote(bench.clock)
        let oauth = bench.plugin(grant: OAuthBench.browser(), store: store, onStoreFailure: { _ in })
        let provider = bench.provider(oauth)
        try await bench.clock.run {
            try await makeUnstored(oauth, store, bench)
            store.set(delay: .seconds(10))
            await withTaskGroup { group in
                group.addTask { _ = try? await provider.request(.list) }
                try? await bench.clock.sleep(for: .seconds(1))
                group.cancelAll()
            }
            try await bench.clock.sleep(for: .seconds(20))
            _ = try await provider.request(.list)
        }
        #expect(store.saves == ["CANARY-access-1", "CANARY-access-2"])
        #expect(bench.revoked == [])
        #expect(bench.authorizations.last == "Bearer CANARY-access-2")
    }

    @Test("G08: calls do not wait for a store that hangs while it stores a credential again")
    func hangingStore() async throws {
        let bench = OAuthBench()
        let store = Remote(bench.clock)
        let oauth = bench.plugin(grant: OAuthBench.browser(), store: store, onStoreFailure: { _ in })
        let provider = bench.provider(oauth)
        try await bench.clock.run {
            try await makeUnstored(oauth, store, bench)
            store.set(delay: .seconds(1_000))
            let start = bench.clock.now
            for _ in 1...3 { _ = try await provider.request(.list) }
            #expect(bench.clock.now == start)
        }
    }

    @Test("A10: a refresh that times out while the store is slow is stored, and the next call uses it")
    func slowStore() async throws {
        let bench = OAuthBench()
        let store = Remote(bench.clock)
        let oauth = OAuthPlugin(
            OAuthBench.server,
            client: .public(id: "cli"),
            grant: OAuthBench.browser(),
            store: store,
            policy: TokenRefreshPolicy(timeout: .seconds(5)),
            transport: bench.transport,
            configuration: bench.configuration
        )
        let provider = bench.provider(oauth)
        try await bench.clock.run {
            try await oauth.signIn()
            store.set(delay: .seconds(60))
            try await bench.clock.sleep(for: .seconds(3_600))
            let error = await oauthError { _ = try await provider.request(.list) }
            #expect(error?.code == .timeout(.tokenRefresh))
            try await bench.clock.sleep(for: .seconds(120))
            _ = try await provider.request(.list)
        }
        #expect(store.saves == ["CANARY-access-1", "CANARY-access-2"])
        #expect(bench.revoked == [])
        #expect(bench.tokenForms.count == 2)
        #expect(bench.authorizations == ["Bearer CANARY-access-2"])
    }

    @Test("G08: storing a credential again does not replace a later one")
    func laterCredential() async throws {
        let bench = OAuthBench { request, number in
            // The API refuses the second token.
            guard request.path == "/items" else { return nil }
            let isRefused = request.headers[.authorization] == "Bearer CANARY-access-2" && number > 1
            return .status(isRefused ? 401 : 200)
        }
        let store = Remote(bench.clock)
        let oauth = bench.plugin(grant: OAuthBench.browser(), store: store, onStoreFailure: { _ in })
        let provider = bench.provider(oauth)
        try await bench.clock.run {
            try await makeUnstored(oauth, store, bench)
            store.set(delay: .seconds(10))
            try await withThrowingTaskGroup { group in
                for _ in 1...4 { group.addTask { _ = try await provider.request(.list) } }
                try await group.waitForAll()
            }
            try await bench.clock.sleep(for: .seconds(60))
        }
        #expect(store.saves.last == "CANARY-access-3")
        #expect(store.saves == store.saves.sorted())
        #expect(bench.revoked == [])
    }

    @Test("G08: a credential that the server has refused is not stored again")
    func refusedCredential() async throws {
        let bench = OAuthBench { request, _ in
            request.form["refresh_token"] == "CANARY-refresh-2" ? OAuthBench.failure("invalid_grant") : nil
        }
        let store = Remote(bench.clock)
        let oauth = bench.plugin(grant: OAuthBench.browser(), store: store, onStoreFailure: { _ in })
        let provider = bench.provider(oauth)
        try await bench.clock.run {
            try await makeUnstored(oauth, store, bench)
            try await bench.clock.sleep(for: .seconds(3_600))
            for _ in 1...2 {
                let error = await oauthError { _ = try await provider.request(.list) }
                #expect(error?.code == .sessionEnded)
                store.set()
                try await bench.clock.sleep(for: .seconds(1))
            }
        }
        #expect(store.token == nil)
    }

    /// A store that is slow to load once.
    private final class SlowLoad: CredentialStore {
        let delay = Mutex(Duration.zero)
        private let clock: ManualClock
        private let wrapped = MemoryCredentialStore()

        init(_ clock: ManualClock) { self.clock = clock }

        func load(_ key: String) async throws -> Data? {
            let found = wrapped.load(key)
            let delay = delay.withLock { delay in
                defer { delay = .zero }
                return delay
            }
            if delay > .zero { try await clock.sleep(for: delay) }
            return found
        }

        func save(_ credential: Data, for key: String) async throws { wrapped.save(credential, for: key) }

        func remove(_ key: String) async throws { wrapped.remove(key) }
    }

    @Test("G05: a late refresh of an earlier user leaves the session of the next user as it is")
    func earlierUser() async throws {
        let bench = OAuthBench()
        let store = SlowLoad(bench.clock)
        let (first, other) = (
            bench.plugin(grant: OAuthBench.browser(), store: store),
            bench.plugin(grant: OAuthBench.browser(), store: store)
        )
        let provider = bench.provider(first)
        try await bench.clock.run {
            try await first.signIn()
            #expect(try await other.isSignedIn)
            try await bench.clock.sleep(for: .seconds(3_600))
            _ = try await bench.provider(other).request(.list)
            store.delay.withLock { $0 = .seconds(10) }
            async let stale = oauthError { _ = try await provider.request(.list) }
            try await bench.clock.sleep(for: .seconds(1))
            try await first.signOut()
            try await first.signIn()
            #expect(await stale != nil)
            let revoked = bench.revoked
            // The tokens of the second user.
            try await bench.clock.sleep(for: .seconds(3_600))
            _ = try await provider.request(.list)
            #expect(bench.revoked == revoked)
        }
        #expect(bench.authorizations.last == "Bearer CANARY-access-4")
    }
}
