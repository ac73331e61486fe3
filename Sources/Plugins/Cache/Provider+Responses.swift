public import Pipeline

extension Provider {
    /// Returns the stored response of a target, if there is one, and then the response of the origin if it differs.
    ///
    /// ```swift
    /// for try await response in provider.responses(.news) {
    ///     show(try response.map([Article].self))
    /// }
    /// ```
    ///
    /// The stack needs a ``CachePlugin``; without it, there is one response. The first response may be stale, as with
    /// ``CachePolicy/offline``. The second differs if the origin has not confirmed the first, and if its status or its
    /// body is different. Each iteration of the sequence sends the target.
    ///
    /// - Parameters:
    ///   - target: the target to send.
    ///   - options: the options of the calls; `cachePolicy` is replaced.
    /// - Returns: the responses. Reading throws what `request` throws for the origin, also after a stored response.
    public func responses(
        _ target: Target,
        options: RequestOptions = RequestOptions()
    ) -> some AsyncSequence<PipelineResponse, any Error> & Sendable where Target: Sendable {
        CachedResponses(provider: self, target: target, options: options)
    }
}

/// The stored response of a target and that of the origin.
private struct CachedResponses<Target: TargetType & Sendable>: AsyncSequence, Sendable {
    let provider: Provider<Target>
    let target: Target
    let options: RequestOptions

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(sequence: self) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let sequence: CachedResponses
        private var stored: PipelineResponse?
        private var step = 0

        init(sequence: CachedResponses) { self.sequence = sequence }

        mutating func next() async throws -> PipelineResponse? {
            try await next(isolation: #isolation)
        }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> PipelineResponse? {
            step += 1
            if step == 1 {
                stored = try? await request(.offline)
                if stored?.source == .cache, stored?.cacheStatus?.kind != .bypass { return stored }
                stored = nil
                try Task.checkCancellation()
                step = 2
            }
            guard step == 2 else { return nil }
            let fresh = try await request(.revalidate)
            guard let stored, fresh.statusCode == stored.statusCode else { return fresh }
            return fresh.cacheStatus?.kind == .revalidated || fresh.data == stored.data ? nil : fresh
        }

        private func request(_ policy: CachePolicy) async throws -> PipelineResponse {
            var options = sequence.options
            options.cachePolicy = policy
            return try await sequence.provider.request(sequence.target, options: options)
        }
    }
}
