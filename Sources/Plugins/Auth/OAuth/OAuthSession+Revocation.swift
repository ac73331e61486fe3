import PipelineCore

extension OAuthSession {
    /// Revokes the tokens of a session, also if the caller is cancelled; does nothing without an endpoint.
    func revoke(_ credential: OAuthCredential) async throws {
        try await unattended { try await self.sendRevocation(of: credential) }
    }

    func sendRevocation(of credential: OAuthCredential) async throws {
        guard let endpoint = try await metadata().revocationEndpoint else { return }
        if let token = credential.refreshToken {
            _ = try await requests.post(endpoint, [("token", token), ("token_type_hint", "refresh_token")])
        }
        let form = [("token", credential.accessToken), ("token_type_hint", "access_token")]
        do {
            _ = try await requests.post(endpoint, form)
        } catch let error as PipelineError where error.serverError == "unsupported_token_type" {}
    }

    /// Runs work to its end, because the server may act on its request already; a caller that is cancelled leaves.
    ///
    /// - Parameters:
    ///   - work: the work.
    ///   - late: gets the result if the caller has left.
    /// - Returns: the result of the work.
    /// - Throws: the error of the work; `CancellationError` as soon as the caller is cancelled.
    func unattended<Value: Sendable>(
        _ work: @escaping @Sendable () async throws -> Value,
        late: @escaping @Sendable (Value) async -> Void = { _ in }
    ) async throws -> Value {
        let waiter = TokenWaiter<Result<Value, any Error>>()
        Task(executorPreference: requests.clock.taskExecutor) {
            do {
                let value = try await work()
                if !waiter.fill(.success(value)) { await late(value) }
            } catch {
                waiter.fill(.failure(error))
            }
        }
        return try await waiter.value { waiter.fill(.failure(CancellationError())) }.get()
    }
}
