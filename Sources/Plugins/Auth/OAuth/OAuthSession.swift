import Foundation
import PipelineCore
import PipelinePlugins
import Synchronization

/// The part of an ``OAuthPlugin`` that talks to the authorization server and the credential store.
final class OAuthSession: Sendable {
    enum Stored {
        /// The last credential.
        case current
        /// The credential before the last one.
        case previous
        /// An older credential or none.
        case unknown
    }

    struct State {
        var metadata: OAuthMetadata?
        var isSigningIn = false
        /// Whether the store may have a credential of an earlier run.
        var mayRestore = true
        /// Counts the sessions, so that a refresh of an earlier one stores nothing.
        var generation = 0
        /// The last credential of the session.
        var current: OAuthCredential?
        /// What the store has of the session, unless another process has changed it.
        var stored = Stored.unknown
        /// Whether a task tries again to store the last credential.
        var isStoring = false
        /// The keys of the last tokens, the most recent one last.
        var keys: [(token: String, key: DPoPKey)] = []
    }

    let server: OAuthServer
    let grant: OAuthGrant
    let usesKey: Bool
    let requests: OAuthRequests
    private let store: any CredentialStore
    let onStoreFailure: (@Sendable (any Error) -> Void)?
    private let storeKey: String
    /// For changes of the store.
    private let lane = OAuthLane()
    /// For refreshes, each of which uses up a token.
    let renewals = OAuthLane()
    let state = Mutex(State())

    init(
        server: OAuthServer,
        grant: OAuthGrant,
        store: any CredentialStore,
        account: String,
        usesKey: Bool,
        requests: OAuthRequests,
        onStoreFailure: (@Sendable (any Error) -> Void)?
    ) {
        self.server = server
        self.grant = grant
        self.store = store
        self.onStoreFailure = onStoreFailure
        // The length of each part keeps the keys of different parts apart.
        let parts = [server.name, requests.client.id, account, grant.isClientCredentials ? "client" : "user"]
        storeKey = parts.map { "\($0.utf8.count) \($0)" }.joined(separator: " ")
        self.usesKey = usesKey
        self.requests = requests
    }

    var generation: Int { state.withLock { $0.generation } }

    var mayRestore: Bool { state.withLock { $0.mayRestore } }

    /// Returns the endpoints, which are discovered at the first use.
    func metadata() async throws -> OAuthMetadata {
        if let known = state.withLock({ $0.metadata }) { return known }
        let metadata: OAuthMetadata
        switch server.source {
        case .metadata(let given): metadata = given
        case .issuer(let issuer): metadata = try await requests.metadata(of: issuer)
        }
        state.withLock { $0.metadata = metadata }
        return metadata
    }

    // MARK: Sessions

    /// Begins a sign-in; throws if there is one already.
    func beginSignIn() throws {
        let isFree = state.withLock { state in
            defer { state.isSigningIn = true }
            return !state.isSigningIn
        }
        if !isFree { throw PipelineError(.oauth(.signInProgress), "another sign-in is in progress; wait for its end") }
    }

    func endSignIn() { state.withLock { $0.isSigningIn = false } }

    /// Begins a new session: stores its credential, and then applies it.
    ///
    /// - Parameters:
    ///   - credential: the credential of the new session.
    ///   - expected: the generation in which the sign-in began.
    ///   - apply: makes calls use the credential.
    /// - Throws: an error of the store, after which the earlier session goes on; `CancellationError` if that session
    ///   has ended meanwhile.
    func begin(
        _ credential: OAuthCredential,
        after expected: Int,
        _ apply: (OAuthCredential) async -> Void
    ) async throws {
        try await lane.run {
            guard generation == expected else { throw CancellationError() }
            try await store.save(try JSONEncoder().encode(credential), for: storeKey)
            guard advance(from: expected) else {
                try? await store.remove(storeKey)
                throw CancellationError()
            }
            try use(credential, expected + 1, isStored: true)
            await apply(credential)
        }
    }

    private func advance(from expected: Int) -> Bool {
        state.withLock { state in
            guard state.generation == expected else { return false }
            state.generation += 1
            state.mayRestore = false
            return true
        }
    }

    /// Ends the session, so that nothing is restored or stored for it any more.
    ///
    /// - Parameter expected: the generation of the session to end; `nil` for the latest one.
    /// - Returns: the new generation, and the last credential; `nil` if another session has begun.
    @discardableResult
    func end(_ expected: Int? = nil) -> (generation: Int, credential: OAuthCredential?)? {
        state.withLock { state in
            guard expected == nil || expected == state.generation else { return nil }
            defer { (state.current, state.stored, state.mayRestore) = (nil, .unknown, false) }
            state.generation += 1
            return (state.generation, state.current)
        }
    }

    /// Returns the key for a new session, or that of the session; `nil` without DPoP.
    func key(of credential: OAuthCredential?) throws -> DPoPKey? {
        if let data = credential?.key { return try DPoPKey(data) }
        return usesKey ? DPoPKey() : nil
    }

    /// Makes a credential the last one of its session, and remembers its key for the proofs of requests.
    ///
    /// - Throws: ``SessionChanged`` if the session has ended meanwhile.
    func use(_ credential: OAuthCredential, _ generation: Int, isStored: Bool) throws {
        let key = credential.isBoundToKey ? try key(of: credential) : nil
        try state.withLock { state in
            guard state.generation == generation else { throw SessionChanged() }
            if isStored { state.stored = .current } else if state.stored == .current { state.stored = .previous }
            state.current = credential
            guard let key else { return }
            state.keys.removeAll { $0.token == credential.accessToken }
            state.keys.append((credential.accessToken, key))
            if state.keys.count > 4 { state.keys.removeFirst() }
        }
    }

    /// Returns the key that a token is bound to.
    func key(ofToken token: some StringProtocol) -> DPoPKey? {
        state.withLock { state in state.keys.last { $0.token == token }?.key }
    }

    // MARK: Store

    /// Returns the stored credential; one that cannot be decoded, or lacks the key that is required, counts as none.
    func stored() async throws -> OAuthCredential? {
        guard let data = try await store.load(storeKey),
            let credential = try? JSONDecoder().decode(OAuthCredential.self, from: data),
            credential.isBoundToKey || !usesKey
        else { return nil }
        return credential
    }

    /// Restores the credential of an earlier run, at most once.
    func restore(_ apply: (OAuthCredential) async -> Void) async throws {
        guard mayRestore else { return }
        try await lane.run {
            guard mayRestore else { return }
            let generation = generation
            let credential = try await stored()
            guard self.generation == generation else { return }
            if let credential {
                try use(credential, generation, isStored: true)
                await apply(credential)
            }
            state.withLock { $0.mayRestore = false }
        }
    }

    /// The session has ended in this process.
    struct SessionChanged: Error {}
    /// The session has ended in another process.
    struct EndedElsewhere: Error {}

    /// Stores the last credential of the session, unless the store has it.
    func store() async throws {
        try await lane.run(mustRun: true) {
            let (last, stored, generation) = state.withLock { ($0.current, $0.stored, $0.generation) }
            guard let last, stored != .current else { return }
            if stored == .previous, !grant.isClientCredentials, case .ended = await self.stored(beside: last) {
                throw EndedElsewhere()
            }
            do {
                try await store.save(try JSONEncoder().encode(last), for: storeKey)
            } catch {
                state.withLock { if $0.generation == generation { $0.stored = .unknown } }
                throw error
            }
            // The session may have ended while the store was busy, and is then not restored by a later run.
            let isOver = state.withLock { state in
                guard state.generation == generation else { return true }
                state.stored = state.current == last ? .current : .previous
                return false
            }
            guard isOver else { return }
            try? await store.remove(storeKey)
            throw SessionChanged()
        }
    }

    /// Removes the credential unless a later session has begun.
    ///
    /// - Parameters:
    ///   - generation: the generation of the session that has ended.
    ///   - forget: runs first, because a sign-in that was ahead may have applied its credential.
    /// - Throws: an error of the store.
    func remove(_ generation: Int, _ forget: () async -> Void = {}) async throws {
        // A cancelled sign-out must not leave a credential for a later run.
        try await lane.run(mustRun: true) {
            guard self.generation == generation else { return }
            state.withLock { $0.keys = [] }
            await forget()
            try await store.remove(storeKey)
        }
    }

    var scope: [(String, String)] {
        grant.scopes.isEmpty ? [] : [("scope", grant.scopes.joined(separator: " "))]
    }
}

extension PipelineError {
    /// The code of the error that the authorization server reported.
    var serverError: String? { (underlyingError as? OAuthServerError)?.error }
}
