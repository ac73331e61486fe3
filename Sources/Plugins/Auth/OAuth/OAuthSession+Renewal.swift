import Foundation
import PipelineCore
import Synchronization

extension OAuthSession {
    /// Returns a new credential for one that expires or was refused, or the first one of a client that acts for itself;
    /// `nil` if the session has ended.
    ///
    /// It goes on without its caller, because the server may act on the request already.
    func renew(_ expired: OAuthCredential?, _ context: PipelineContext) async throws -> OAuthCredential? {
        try await unattended {
            do {
                return try await self.renewals.run(mustRun: true) { try await self.renewAlone(expired, context) }
            } catch is SessionChanged {
                throw CancellationError()
            }
        }
    }

    private func renewAlone(_ expired: OAuthCredential?, _ context: PipelineContext) async throws -> OAuthCredential? {
        let (current, generation) = state.withLock { ($0.current, $0.generation) }
        let isValid = { (other: OAuthCredential) in (other.expiry ?? .distantFuture) > context.clock.date }
        if let current, let expired, current.session != expired.session { throw SessionChanged() }
        // A refresh whose caller has left may have brought it.
        if let current, current != expired, isValid(current) { return current }
        guard !grant.isClientCredentials else {
            if let other = try? await stored(), other != expired, isValid(other),
                (other.issuedAt ?? .distantPast) >= (expired?.issuedAt ?? .distantPast)
            {
                return try adopt(other, generation)
            }
            return try await keep(obtain(context.clock, expired), generation, context.operatorLog)
        }
        guard expired != nil, var used = current else { return nil }
        // Another process may have refreshed already: a refresh token that rotates must not be used twice.
        switch await entry(beside: used) {
        case .unchanged: break
        case .ended: return endHere(generation)
        case .replaced(let other):
            used = try adopt(other, generation)
            if isValid(other) { return other }
        }
        guard used.refreshToken != nil else { return await end(used, generation) }
        do {
            return try await keep(refreshed(used, context.clock), generation, context.operatorLog)
        } catch let error as PipelineError where Self.endOfSession.contains(error.serverError ?? "") {
            // The other process may have been faster only now.
            switch await entry(beside: used) {
            case .unchanged: return await end(used, generation)
            case .ended: return endHere(generation)
            case .replaced(let other): return try adopt(other, generation)
            }
        }
    }

    /// Returns a credential from another process after making it the last one of the session.
    private func adopt(_ other: OAuthCredential, _ generation: Int) throws -> OAuthCredential {
        try use(other, generation, isStored: true)
        return other
    }

    /// The errors that say that a refresh token is no longer valid; the second is GitHub's.
    private static let endOfSession = ["invalid_grant", "bad_refresh_token"]

    /// What the store has beside a credential of this process.
    enum Entry {
        /// The same, or what the store has is not known.
        case unchanged
        /// A credential of the same session, from another process.
        case replaced(OAuthCredential)
        /// Nothing, or the session of another user: the session has ended in another process.
        case ended
    }

    /// Compares the last credential of the session with the store.
    private func entry(beside own: OAuthCredential) async -> Entry {
        // Otherwise, an older one is there.
        guard state.withLock({ $0.stored == .current }) else { return .unchanged }
        return await stored(beside: own)
    }

    func stored(beside own: OAuthCredential) async -> Entry {
        do {
            guard let other = try await stored(), other.session == own.session else { return .ended }
            return other == own ? .unchanged : .replaced(other)
        } catch {
            return .unchanged
        }
    }

    /// Ends the session in this process only, because the store has nothing of it.
    private func endHere(_ generation: Int) -> OAuthCredential? {
        end(generation)
        return nil
    }

    /// Ends the session and removes the credential that the server has refused.
    private func end(_ refused: OAuthCredential, _ generation: Int) async -> OAuthCredential? {
        let entry = await entry(beside: refused)
        if let ended = end(generation), case .unchanged = entry { try? await remove(ended.generation) }
        return nil
    }

    private func refreshed(_ used: OAuthCredential, _ clock: PipelineClock) async throws -> OAuthCredential {
        let form = [("grant_type", "refresh_token"), ("refresh_token", used.refreshToken ?? "")]
        return try await requests.credential(
            from: metadata().tokenEndpoint,
            form,
            key: key(of: used),
            replacing: used,
            clock
        )
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
            try use(credential, generation, isStored: false)
            try await store(log)
        } catch let error where error is SessionChanged || error is EndedElsewhere {
            // No call will use these tokens, and none waits for their end.
            Task(executorPreference: requests.clock.taskExecutor) { try? await self.sendRevocation(of: credential) }
            guard error is EndedElsewhere else { throw error }
            return endHere(generation)
        }
        return credential
    }

    /// Stores the last credential; reports an error of the store.
    private func store(_ log: PipelineContext.OperatorLog) async throws {
        do {
            try await store()
        } catch let error where error is SessionChanged || error is EndedElsewhere {
            throw error
        } catch {
            if let onStoreFailure { onStoreFailure(error) } else { log.warning(Self.storeWarning) }
        }
    }

    /// Tries again to store the credential that could not be stored, without letting the caller wait.
    func storeAgain(_ log: PipelineContext.OperatorLog) {
        let generation = state.withLock { state -> Int? in
            guard state.current != nil, state.stored == .unknown, !state.isStoring else { return nil }
            state.isStoring = true
            return state.generation
        }
        guard let generation else { return }
        Task(executorPreference: requests.clock.taskExecutor) {
            defer { self.state.withLock { $0.isStoring = false } }
            do { try await self.store(log) } catch is EndedElsewhere { self.end(generation) } catch {}
        }
    }

    private static let storeWarning = """
        OAuthPlugin could not store a credential; the next call tries again, or a later run has to sign in
        """
}
