import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineAuth

@Suite("OAuthPlugin: sessions and stores", .tags(.concurrent), .watched)
struct OAuthPluginTests {
    private let invalidGrant: OAuthBench.Answer = { request, _ in
        request.form["grant_type"] == "refresh_token" ? OAuthBench.failure("invalid_grant") : nil
    }

    @Test("Without a session, calls fail with sessionEnded and nothing is sent")
    func noSession() async throws {
        let bench = OAuthBench()
        let oauth = bench.plugin(grant: OAuthBench.browser())
        let error = await oauthError { _ = try await bench.provider(oauth).request(.list) }
        #expect(error?.code == .sessionEnded)
        #expect(bench.received.isEmpty)
        #expect(try await !oauth.isSignedIn)
    }

    @Test("A refresh uses the last refresh token, and stores the new one before the call continues")
    func rotation() async throws {
        let bench = OAuthBench { request, number in
            request.path == "/items" && number == 2 ? .status(401) : nil
        }
        let stored = LockedList<String?>()
        let oauth = bench.plugin(grant: OAuthBench.browser())
        let provider = Provider<OAuthBench.Items>(
            transport: ScriptedTransport { request, _ in
                .answer { _, context in
                    let data = bench.store.load(OAuthBench.storeKey) ?? Data()
                    stored.append(try? JSONDecoder().decode(OAuthCredential.self, from: data).refreshToken)
                    return try await bench.transport.send(request, context: context)
                }
            },
            plugins: [oauth],
            configuration: bench.configuration
        )
        try await bench.clock.run {
            try await oauth.signIn()
            _ = try await provider.request(.list)
            _ = try await provider.request(.list)
            try await bench.clock.sleep(for: .seconds(3_600))
            _ = try await provider.request(.list)
        }
        #expect(bench.tokenForms.compactMap { $0["refresh_token"] } == ["CANARY-refresh-1", "CANARY-refresh-2"])
        #expect(bench.authorizations.map { $0?.last } == ["1", "1", "2", "3"])
        #expect(stored.all.map { $0?.last } == ["1", "1", "2", "3"])
    }

    @Test("A refresh token that is not replaced stays in use")
    func notRotated() async throws {
        let bench = OAuthBench { request, number in
            guard request.form["grant_type"] == "refresh_token" else { return nil }
            return .status(
                200,
                body: #"{"access_token": "next-\#(number)", "token_type": "bearer", "expires_in": 100}"#
            )
        }
        let oauth = bench.plugin(grant: OAuthBench.browser())
        let provider = bench.provider(oauth)
        try await bench.clock.run {
            try await oauth.signIn()
            for _ in 0..<2 {
                try await bench.clock.sleep(for: .seconds(3_600))
                _ = try await provider.request(.list)
            }
        }
        #expect(bench.tokenForms.compactMap { $0["refresh_token"] } == ["CANARY-refresh-1", "CANARY-refresh-1"])
    }

    @Test("A10 If the only call that waits for a refresh is cancelled, the rotated tokens are stored and used")
    func cancelledWaiter() async throws {
        let bench = OAuthBench { request, number in
            request.path == "/token" && number == 2 ? .delayed(.seconds(1), OAuthBench.tokens(2)) : nil
        }
        let oauth = bench.plugin(grant: OAuthBench.browser())
        try await oauth.signIn()
        bench.clock.advance(by: .seconds(3_600))
        let provider = bench.provider(oauth)
        let call = Task { try await provider.request(.list) }
        await eventually { bench.tokenForms.count == 2 }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        let next = Task { try await provider.request(.list) }
        try await bench.clock.waitForSleepers()
        bench.clock.advance(by: .seconds(1))
        _ = try await next.value
        #expect(bench.authorizations == ["Bearer CANARY-access-2"])
        #expect(bench.tokenForms.compactMap { $0["refresh_token"] } == ["CANARY-refresh-1"])
        let stored = try #require(bench.store.load(OAuthBench.storeKey))
        #expect(try JSONDecoder().decode(OAuthCredential.self, from: stored).refreshToken == "CANARY-refresh-2")
    }

    @Test("A refresh that the server refuses with invalid_grant ends the session and empties the store")
    func invalidGrantEnds() async throws {
        let bench = OAuthBench(invalidGrant)
        let oauth = bench.plugin(grant: OAuthBench.browser())
        let provider = bench.provider(oauth)
        try await bench.clock.run {
            try await oauth.signIn()
            try await bench.clock.sleep(for: .seconds(3_600))
            for _ in 0..<2 {
                let error = await oauthError { _ = try await provider.request(.list) }
                #expect(error?.code == .sessionEnded)
            }
        }
        #expect(bench.tokenForms.count == 2)
        #expect(try await !oauth.isSignedIn)
        #expect(try await !bench.plugin(grant: OAuthBench.browser()).isSignedIn)
        #expect(bench.authorizations.isEmpty)
    }

    @Test("Another failure of a refresh keeps the session")
    func otherFailure() async throws {
        let bench = OAuthBench { request, number in
            request.path == "/token" && number == 2 ? .status(503) : nil
        }
        let oauth = bench.plugin(grant: OAuthBench.browser())
        let provider = bench.provider(oauth)
        try await bench.clock.run {
            try await oauth.signIn()
            try await bench.clock.sleep(for: .seconds(3_600))
            let error = await oauthError { _ = try await provider.request(.list) }
            #expect(error?.code == .tokenRefresh)
            _ = try await provider.request(.list)
        }
        #expect(bench.authorizations == ["Bearer CANARY-access-3"])
    }

    @Test("A later run continues the session of the store")
    func restores() async throws {
        let bench = OAuthBench()
        try await bench.plugin(grant: OAuthBench.browser()).signIn()
        let later = bench.plugin(grant: OAuthBench.browser())
        _ = try await bench.provider(later).request(.list)
        #expect(try await later.isSignedIn)
        #expect(bench.authorizations == ["Bearer CANARY-access-1"])
        #expect(try await !bench.plugin(client: .public(id: "other"), grant: OAuthBench.browser()).isSignedIn)
    }

    @Test("A store that cannot be read fails the call, and the next call reads it again")
    func unreadable() async throws {
        let bench = OAuthBench()
        let store = OAuthTestStore(bench.store, failures: 1)
        try await bench.plugin(grant: OAuthBench.browser()).signIn()
        let provider = bench.provider(bench.plugin(grant: OAuthBench.browser(), store: store))
        let error = await oauthError { _ = try await provider.request(.list) }
        #expect(error?.underlyingError is OAuthTestStore.Failure)
        _ = try await provider.request(.list)
        #expect(bench.authorizations == ["Bearer CANARY-access-1"])
    }

    @Test("Of two processes with one store, the second uses the token that the first has refreshed")
    func sharedStore() async throws {
        let bench = OAuthBench()
        let plugins = [bench.plugin(grant: OAuthBench.browser()), bench.plugin(grant: OAuthBench.browser())]
        try await bench.clock.run {
            try await plugins[0].signIn()
            #expect(try await plugins[1].isSignedIn)
            try await bench.clock.sleep(for: .seconds(3_600))
            for plugin in plugins { _ = try await bench.provider(plugin).request(.list) }
        }
        #expect(bench.tokenForms.compactMap { $0["refresh_token"] } == ["CANARY-refresh-1"])
        #expect(bench.authorizations == ["Bearer CANARY-access-2", "Bearer CANARY-access-2"])
    }

    @Test("If another process was faster by a moment, its token is used in place of an end of the session")
    func lostRace() async throws {
        let store = MemoryCredentialStore()
        let key = OAuthBench.storeKey
        let bench = OAuthBench { request, _ in
            guard request.form["refresh_token"] == "CANARY-refresh-1" else { return nil }
            // What the other process stores while the refresh of this one is on its way.
            let stored = store.load(key).flatMap { try? JSONDecoder().decode(OAuthCredential.self, from: $0) }
            let other = OAuthCredential(
                accessToken: "other",
                refreshToken: "r",
                isBoundToKey: false,
                expiry: nil,
                issuedAt: .distantPast,
                key: nil,
                session: stored?.session
            )
            store.save((try? JSONEncoder().encode(other)) ?? Data(), for: key)
            return OAuthBench.failure("invalid_grant")
        }
        let oauth = bench.plugin(grant: OAuthBench.browser(), store: store)
        try await bench.clock.run {
            try await oauth.signIn()
            try await bench.clock.sleep(for: .seconds(3_600))
            _ = try await bench.provider(oauth).request(.list)
        }
        #expect(bench.authorizations == ["Bearer other"])
    }

    @Test("Signing out revokes the tokens, empties the store and ends the session", arguments: [true, false])
    func signOut(byProvider: Bool) async throws {
        let bench = OAuthBench()
        let oauth = bench.plugin(grant: OAuthBench.browser())
        let provider = bench.provider(oauth)
        try await oauth.signIn()
        if byProvider { try await provider.signOut() } else { try await oauth.signOut() }
        #expect(bench.revoked == ["CANARY-refresh-1", "CANARY-access-1"])
        let hints = bench.received.filter { $0.path == "/revoke" }.map { $0.form["token_type_hint"] }
        #expect(hints == ["refresh_token", "access_token"])
        #expect(bench.store.load(OAuthBench.storeKey) == nil)
        let error = await oauthError { _ = try await provider.request(.list) }
        #expect(error?.code == .sessionEnded)
        try await oauth.signIn()
        _ = try await provider.request(.list)
    }

    @Test("A later run can sign out of the session of the store")
    func signOutLater() async throws {
        let bench = OAuthBench()
        try await bench.plugin(grant: OAuthBench.browser()).signIn()
        try await bench.plugin(grant: OAuthBench.browser()).signOut()
        #expect(bench.revoked.count == 2)
        #expect(bench.store.load(OAuthBench.storeKey) == nil)
    }

    @Test("If the revocation fails, signing out throws, and the session has ended anyway")
    func revocationFails() async throws {
        let bench = OAuthBench { request, _ in request.path == "/revoke" ? .status(503) : nil }
        let oauth = bench.plugin(grant: OAuthBench.browser())
        try await oauth.signIn()
        let error = await oauthError { try await oauth.signOut() }
        #expect(error?.code == .oauth(.response))
        #expect(try await !oauth.isSignedIn)
        #expect(bench.store.load(OAuthBench.storeKey) == nil)
    }

    /// A store that waits before it saves.
    private struct HeldStore: CredentialStore {
        let inner = MemoryCredentialStore()
        let hasBegun = Gate()
        let mayEnd = Gate()

        func load(_ key: String) -> Data? { inner.load(key) }

        func save(_ credential: Data, for key: String) async {
            hasBegun.open()
            await mayEnd.wait()
            inner.save(credential, for: key)
        }

        func remove(_ key: String) { inner.remove(key) }
    }

    @Test("A sign-out while a sign-in is being stored ends that sign-in, too")
    func signOutWhileStoring() async throws {
        let bench = OAuthBench()
        let store = HeldStore()
        let oauth = bench.plugin(grant: OAuthBench.browser(), store: store)
        #expect(try await !oauth.isSignedIn)
        let before = oauth.session.generation
        let signIn = Task { try await oauth.signIn() }
        await store.hasBegun.wait()
        let signOut = Task { try await oauth.signOut() }
        await eventually { oauth.session.generation > before }
        store.mayEnd.open()
        await #expect(throws: CancellationError.self) { try await signIn.value }
        try await signOut.value
        #expect(oauth.tokens.credential == nil)
        #expect(store.inner.load(OAuthBench.storeKey) == nil)
    }

    @Test("G08: a refresh that ends after the sign-out stores nothing, and its tokens are revoked")
    func lateRefresh() async throws {
        let bench = OAuthBench { request, _ in
            guard request.form["grant_type"] == "refresh_token" else { return nil }
            return .delayed(.seconds(5), OAuthBench.tokens(9))
        }
        let oauth = bench.plugin(grant: OAuthBench.browser())
        let provider = bench.provider(oauth)
        try await bench.clock.run {
            try await oauth.signIn()
            try await bench.clock.sleep(for: .seconds(3_600))
            async let call: Void = {
                let error = await oauthError { _ = try await provider.request(.list) }
                #expect(error?.code == .sessionEnded)
            }()
            try await bench.clock.sleep(for: .seconds(2))
            try await oauth.signOut()
            await call
            try await bench.clock.sleep(for: .seconds(10))
        }
        #expect(bench.store.load(OAuthBench.storeKey) == nil)
        #expect(try await !oauth.isSignedIn)
        // The two revocations are independent of each other.
        let revoked = Set(bench.revoked.compactMap(\.self))
        #expect(revoked == ["CANARY-refresh-1", "CANARY-access-1", "CANARY-refresh-9", "CANARY-access-9"])
    }

    @Test("A10 What a refresh brings after its time limit is stored, and the next call uses it")
    func slowRefresh() async throws {
        let bench = OAuthBench { request, _ in
            guard request.form["grant_type"] == "refresh_token" else { return nil }
            return .delayed(.seconds(45), OAuthBench.tokens(9))
        }
        let oauth = bench.plugin(grant: OAuthBench.browser())
        let provider = bench.provider(oauth)
        try await bench.clock.run {
            try await oauth.signIn()
            try await bench.clock.sleep(for: .seconds(3_600))
            let error = await oauthError { _ = try await provider.request(.list) }
            #expect(error != nil)
            try await bench.clock.sleep(for: .seconds(30))
            _ = try await provider.request(.list)
        }
        #expect(bench.tokenForms.count { $0["grant_type"] == "refresh_token" } == 1)
        #expect(bench.revoked == [])
    }

    /// A store that takes 10 s to load.
    private struct SlowStore: CredentialStore {
        let inner: MemoryCredentialStore
        let clock: ManualClock

        func load(_ key: String) async throws -> Data? {
            try await clock.sleep(for: .seconds(10))
            return inner.load(key)
        }

        func save(_ credential: Data, for key: String) { inner.save(credential, for: key) }

        func remove(_ key: String) { inner.remove(key) }
    }

    @Test("A cancelled caller stops waiting for the store at once, and the others go on")
    func cancelledWait() async throws {
        let bench = OAuthBench()
        try await bench.plugin(grant: OAuthBench.browser()).signIn()
        let store = SlowStore(inner: bench.store, clock: bench.clock)
        let oauth = bench.plugin(grant: OAuthBench.browser(), store: store)
        let provider = bench.provider(oauth)
        let start = bench.clock.now
        try await bench.clock.run {
            async let first = oauth.isSignedIn
            async let second = provider.request(.list)
            try await bench.clock.sleep(for: .seconds(1))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { _ = try await oauth.isSignedIn }
                group.addTask { _ = try await provider.request(.list) }
                try await bench.clock.sleep(for: .seconds(1))
                group.cancelAll()
                while let result = await group.nextResult() {
                    #expect(throws: CancellationError.self) { try result.get() }
                }
            }
            #expect(start.duration(to: bench.clock.now) == .seconds(2))
            #expect(try await first)
            #expect(try await second.statusCode == 200)
            #expect(start.duration(to: bench.clock.now) == .seconds(10))
        }
        #expect(bench.authorizations == ["Bearer CANARY-access-1"])
    }

    @Test("A cancelled sign-out still empties the store")
    func cancelledChange() async throws {
        let bench = OAuthBench()
        try await bench.plugin(grant: OAuthBench.browser()).signIn()
        let store = SlowStore(inner: bench.store, clock: bench.clock)
        let oauth = bench.plugin(grant: OAuthBench.browser(), store: store)
        try await bench.clock.run {
            async let holder = oauth.isSignedIn
            try await bench.clock.sleep(for: .seconds(1))
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? await oauth.signOut() }
                try? await bench.clock.sleep(for: .seconds(1))
                group.cancelAll()
            }
            _ = try await holder
        }
        #expect(bench.store.load(OAuthBench.storeKey) == nil)
    }

    @Test("A10 A sign-in that is cancelled while its code is redeemed ends at once, and its tokens are revoked")
    func cancelledSignIn() async throws {
        for isDevice in [true, false] {
            let bench = OAuthBench { request, _ in
                request.path == "/token" ? .delayed(.seconds(1), OAuthBench.tokens(1)) : nil
            }
            let oauth = bench.plugin(grant: isDevice ? .device { _ in } : OAuthBench.browser())
            let signIn = Task { try await oauth.signIn() }
            if isDevice { try await bench.clock.advanceToNextSleeper() }
            await eventually { bench.tokenForms.count == 1 }
            signIn.cancel()
            await #expect(throws: CancellationError.self) { try await signIn.value }
            #expect(bench.revoked == [])
            try await bench.clock.waitForSleepers()
            bench.clock.advance(by: .seconds(1))
            await eventually { bench.revoked == ["CANARY-refresh-1", "CANARY-access-1"] }
            #expect(try await !oauth.isSignedIn)
        }
    }

    @Test("A10 A sign-out that is cancelled ends at once, and still revokes both tokens")
    func cancelledSignOut() async throws {
        let bench = OAuthBench { request, _ in request.path == "/revoke" ? .delayed(.seconds(1), .status(200)) : nil }
        let oauth = bench.plugin(grant: OAuthBench.browser())
        try await oauth.signIn()
        let signOut = Task { try await oauth.signOut() }
        await eventually { bench.revoked == ["CANARY-refresh-1"] }
        signOut.cancel()
        await #expect(throws: CancellationError.self) { try await signOut.value }
        try await bench.clock.advanceToNextSleeper()
        await eventually { bench.revoked == ["CANARY-refresh-1", "CANARY-access-1"] }
        try await bench.clock.advanceToNextSleeper()
        #expect(bench.store.load(OAuthBench.storeKey) == nil)
    }

    @Test("A sign-in whose session cannot be stored revokes its tokens", arguments: [true, false])
    func unwritableRevokes(succeeds: Bool) async throws {
        let bench = OAuthBench { request, _ in request.path == "/revoke" && !succeeds ? .status(503) : nil }
        let oauth = bench.plugin(grant: OAuthBench.browser(), store: OAuthTestStore(bench.store, saves: false))
        await #expect(throws: OAuthTestStore.Failure.self) { try await oauth.signIn() }
        #expect(bench.revoked == (succeeds ? ["CANARY-refresh-1", "CANARY-access-1"] : ["CANARY-refresh-1"]))
    }

    @Test("A sign-in whose session cannot be stored fails; a refresh whose session cannot be stored does not")
    func unwritable() async throws {
        let bench = OAuthBench()
        let oauth = bench.plugin(grant: OAuthBench.browser(), store: OAuthTestStore(bench.store, saves: false))
        await #expect(throws: OAuthTestStore.Failure.self) { try await oauth.signIn() }
        #expect(try await !oauth.isSignedIn)
        try await bench.clock.run {
            try await bench.plugin(grant: OAuthBench.browser()).signIn()
            #expect(bench.tokenForms.count == 2)
            let later = bench.plugin(grant: OAuthBench.browser(), store: OAuthTestStore(bench.store, saves: false))
            try await bench.clock.sleep(for: .seconds(3_600))
            _ = try await bench.provider(later).request(.list)
        }
        #expect(bench.authorizations == ["Bearer CANARY-access-3"])
    }

    @Test("The plugin declares what TokenRefreshPlugin declares, and conforms to the rules of plugins")
    func declarations() async throws {
        let oauth = OAuthBench().plugin()
        #expect(oauth.capabilities == oauth.tokens.capabilities)
        #expect(oauth.handledOptions == [.authorized])
        let violations = await PluginConformance { OAuthBench().plugin() }.run()
        #expect(violations.isEmpty, "\(violations)")
    }
}

/// A store that fails to load a number of times, or to save.
struct OAuthTestStore: CredentialStore {
    struct Failure: Error {}

    private let inner: MemoryCredentialStore
    private let failures: LockedCount
    private let saves: Bool

    init(_ inner: MemoryCredentialStore, failures: Int = 0, saves: Bool = true) {
        self.inner = inner
        self.failures = LockedCount(failures)
        self.saves = saves
    }

    final class LockedCount: Sendable {
        private let count: Mutex<Int>
        init(_ count: Int) { self.count = Mutex(count) }
        func take() -> Bool {
            count.withLock { count in
                guard count > 0 else { return false }
                count -= 1
                return true
            }
        }
    }

    func load(_ key: String) async throws -> Data? {
        if failures.take() { throw Failure() }
        return inner.load(key)
    }

    func save(_ credential: Data, for key: String) async throws {
        if !saves { throw Failure() }
        inner.save(credential, for: key)
    }

    func remove(_ key: String) async throws { inner.remove(key) }
}
