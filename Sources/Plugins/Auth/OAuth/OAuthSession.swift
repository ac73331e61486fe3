import Foundation
import PipelineCore
import PipelinePlugins
import Synchronization

/// The part of an ``OAuthPlugin`` that talks to the authorization server and the credential store.
final class OAuthSession: Sendable {
    private struct State {
        var metadata: OAuthMetadata?
        var isSigningIn = false
        /// Whether the store may have a credential of an earlier run.
        var mayRestore = true
        /// Counts the sessions, so that a refresh of an earlier one stores nothing.
        var generation = 0
        /// The access token of the session.
        var token: String?
        /// Whether the store has the last credential of the session, unless another process has changed it.
        var isStored = false
        /// The credential that could not be stored.
        var unstored: OAuthCredential?
        /// The keys of the last tokens, the most recent one last.
        var keys: [(token: String, key: DPoPKey)] = []
    }

    let server: OAuthServer
    let grant: OAuthGrant
    let usesKey: Bool
    let requests: OAuthRequests
    private let store: any CredentialStore
    private let onStoreFailure: (@Sendable (any Error) -> Void)?
    private let storeKey: String
    private let lane = OAuthLane()
    private let state = Mutex(State())

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
            guard advance(from: expected, credential) else {
                try? await store.remove(storeKey)
                throw CancellationError()
            }
            try use(credential)
            await apply(credential)
        }
    }

    /// Ends the session, so that nothing is restored or stored for it any more.
    ///
    /// - Returns: the new generation.
    func end() -> Int {
        state.withLock { state in
            state.generation += 1
            state.token = nil
            state.unstored = nil
            state.mayRestore = false
            return state.generation
        }
    }

    private func advance(from expected: Int, _ credential: OAuthCredential) -> Bool {
        state.withLock { state in
            guard state.generation == expected else { return false }
            state.generation += 1
            state.token = credential.accessToken
            (state.isStored, state.unstored) = (true, nil)
            state.mayRestore = false
            return true
        }
    }

    /// Returns the key for a new session, or that of the session; `nil` without DPoP.
    func key(of credential: OAuthCredential?) throws -> DPoPKey? {
        if let data = credential?.key { return try DPoPKey(data) }
        return usesKey ? DPoPKey() : nil
    }

    /// Remembers the token of the session and its key, for the proofs of requests that carry it.
    func use(_ credential: OAuthCredential) throws {
        state.withLock { $0.token = credential.accessToken }
        guard credential.isBoundToKey, let key = try key(of: credential) else { return }
        state.withLock { state in
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
                try use(credential)
                state.withLock { $0.isStored = true }
                await apply(credential)
            }
            state.withLock { $0.mayRestore = false }
        }
    }

    /// The session has ended in another process.
    private struct EndedElsewhere: Error {}

    /// Stores a credential unless its session has ended.
    func save(_ credential: OAuthCredential, _ generation: Int) async throws {
        // The refresh token before it may be invalid already, so even a cancelled refresh stores this one.
        try await lane.run(mustRun: true) {
            guard self.generation == generation else { throw CancellationError() }
            if !grant.isClientCredentials, case .ended = await entry(beside: credential) { throw EndedElsewhere() }
            try use(credential)
            do {
                try await store.save(try JSONEncoder().encode(credential), for: storeKey)
            } catch {
                state.withLock { $0.isStored = false }
                throw error
            }
            // The session may have ended while the store was busy, and is then not restored by a later run.
            guard self.generation == generation else {
                try? await store.remove(storeKey)
                throw CancellationError()
            }
            state.withLock { ($0.isStored, $0.unstored) = (true, nil) }
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

    // MARK: Tokens

    /// Returns a new credential for one that expires or was refused, or the first one of a client that acts for itself;
    /// `nil` if the session has ended.
    func renew(_ expired: OAuthCredential?, _ context: PipelineContext) async throws -> OAuthCredential? {
        // A sign-in may have replaced the session of this credential already; its refresh must store nothing.
        let generation = state.withLock { state in
            expired == nil || state.token == expired?.accessToken ? state.generation : -1
        }
        guard !grant.isClientCredentials else { return try await renewOwn(expired, generation, context) }
        guard let expired else { return nil }
        // Another process may have refreshed already: a refresh token that rotates must not be used twice.
        var used = expired
        switch await entry(beside: expired) {
        case .unchanged: break
        case .ended: return endHere(generation)
        case .replaced(let other):
            if (other.expiry ?? .distantFuture) > context.clock.date {
                try use(other)
                return other
            }
            used = other
        }
        guard used.refreshToken != nil else { return try await end(used, generation) }
        do {
            return try await refresh(used, generation, context)
        } catch let error as PipelineError where Self.endOfSession.contains(error.serverError ?? "") {
            // The other process may have been faster only now.
            switch await entry(beside: used) {
            case .unchanged: return try await end(used, generation)
            case .ended: return endHere(generation)
            case .replaced(let other):
                try use(other)
                return other
            }
        }
    }

    /// Returns a new token of a client that acts for itself.
    private func renewOwn(
        _ expired: OAuthCredential?,
        _ generation: Int,
        _ context: PipelineContext
    ) async throws -> OAuthCredential? {
        if let other = try? await stored(), other != expired,
            (other.expiry ?? .distantFuture) > context.clock.date,
            (other.issuedAt ?? .distantPast) >= (expired?.issuedAt ?? .distantPast)
        {
            try use(other)
            return other
        }
        return try await keptEvenIfLate(generation, context) { try await self.obtain(context.clock, expired) }
    }

    /// The errors that say that a refresh token is no longer valid; the second is GitHub's.
    private static let endOfSession = ["invalid_grant", "bad_refresh_token"]

    /// What the store has beside a credential of this process.
    private enum Entry {
        /// The same, or what the store has is not known.
        case unchanged
        /// A credential of the same session, from another process.
        case replaced(OAuthCredential)
        /// Nothing, or the session of another user: the session has ended in another process.
        case ended
    }

    /// Compares a credential of the session with the store.
    private func entry(beside own: OAuthCredential) async -> Entry {
        // If the last credential could not be stored, an older one is there.
        guard state.withLock({ $0.isStored }) else { return .unchanged }
        do {
            guard let other = try await stored(), other.session == own.session else { return .ended }
            return other == own ? .unchanged : .replaced(other)
        } catch {
            return .unchanged
        }
    }

    /// Ends the session in this process only, because the store has nothing of it.
    private func endHere(_ generation: Int) -> OAuthCredential? {
        if self.generation == generation { _ = end() }
        return nil
    }

    /// Ends the session and removes the credential that the server has refused.
    private func end(_ refused: OAuthCredential, _ generation: Int) async throws -> OAuthCredential? {
        if case .unchanged = await entry(beside: refused) { try? await remove(generation) }
        return nil
    }

    private func refresh(
        _ used: OAuthCredential,
        _ generation: Int,
        _ context: PipelineContext
    ) async throws -> OAuthCredential? {
        let key = try key(of: used)
        let form = [("grant_type", "refresh_token"), ("refresh_token", used.refreshToken ?? "")]
        let endpoint = try await metadata().tokenEndpoint
        return try await keptEvenIfLate(generation, context) {
            try await self.requests.credential(from: endpoint, form, key: key, replacing: used, context.clock)
        }
    }

    /// Obtains and stores a credential, also after the caller has left, because a refresh token may be used up.
    private func keptEvenIfLate(
        _ generation: Int,
        _ context: PipelineContext,
        _ obtain: @escaping @Sendable () async throws -> OAuthCredential
    ) async throws -> OAuthCredential? {
        let log = context.operatorLog
        let credential = try await unattended(obtain) { credential in
            _ = try? await self.keep(credential, generation, log)
        }
        return try await keep(credential, generation, log)
    }

    /// Obtains a token of a client that acts for itself.
    func obtain(_ clock: PipelineClock, _ old: OAuthCredential? = nil) async throws -> OAuthCredential {
        let form = [("grant_type", "client_credentials")] + scope
        return try await requests.credential(from: metadata().tokenEndpoint, form, key: key(of: old), clock)
    }

    /// Stores a credential; it is used even if that fails, because the previous one may be invalid.
    ///
    /// - Returns: the credential; `nil` if the session has ended in another process.
    private func keep(
        _ credential: OAuthCredential,
        _ generation: Int,
        _ log: PipelineContext.OperatorLog
    ) async throws -> OAuthCredential? {
        do {
            try await save(credential, generation)
        } catch let error where error is CancellationError || error is EndedElsewhere {
            // No call will use these tokens, and none waits for their end.
            Task(executorPreference: requests.clock.taskExecutor) { try? await self.sendRevocation(of: credential) }
            guard error is EndedElsewhere else { throw error }
            return endHere(generation)
        } catch {
            state.withLock { if $0.generation == generation { $0.unstored = credential } }
            if let onStoreFailure {
                onStoreFailure(error)
            } else {
                log.warning(Self.storeWarning)
            }
        }
        return credential
    }

    /// Whether a credential is still to be stored.
    var hasUnstored: Bool { state.withLock { $0.unstored != nil } }

    /// Tries again to store the credential that could not be stored.
    func storeAgain(_ log: PipelineContext.OperatorLog) async {
        let (credential, generation) = state.withLock { state in
            defer { state.unstored = nil }
            return (state.unstored, state.generation)
        }
        if let credential { _ = try? await keep(credential, generation, log) }
    }

    var scope: [(String, String)] {
        grant.scopes.isEmpty ? [] : [("scope", grant.scopes.joined(separator: " "))]
    }
}

extension OAuthSession {
    private static let storeWarning = """
        OAuthPlugin could not store a credential; the next call tries again, or a later run has to sign in
        """
}

extension PipelineError {
    /// The code of the error that the authorization server reported.
    var serverError: String? { (underlyingError as? OAuthServerError)?.error }
}
