public import PipelineCore

extension Provider {
    /// Returns a sequence of the stored response of a target, if there is one, and that of the origin if it differs.
    ///
    /// ```swift
    /// for try await response in provider.responses(.news) {
    ///     show(try response.map([Article].self))
    /// }
    /// ```
    ///
    /// The first response comes from the store as with ``CachePolicy/offline``, and may be stale. The second is that of
    /// the origin. The sequence omits it if the origin confirms the first, or if status and body are equal. Without a
    /// stored response, or without a ``CachePlugin`` in the stack, there is only the response of the origin.
    ///
    /// Each iteration over the sequence sends the target.
    ///
    /// - Parameters:
    ///   - target: the target to send.
    ///   - options: the options of the calls; `cachePolicy` is replaced.
    /// - Returns: one or two responses. If the request to the origin fails, the sequence throws the error, also after a
    ///   stored response.
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
        private var rest: [CachePolicy] = [.offline, .revalidate]

        init(sequence: CachedResponses) { self.sequence = sequence }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> PipelineResponse? {
            if rest.count == 2 {
                rest.removeFirst()
                if let first = try await firstResponse() {
                    stored = first
                    // Without a cache, this is the response of the origin.
                    if first.source != .cache { rest = [] }
                    return first
                }
            }
            guard let policy = rest.popLast() else { return nil }
            let fresh = try await request(policy)
            guard let stored, fresh.statusCode == stored.statusCode else { return fresh }
            return fresh.data == stored.data ? nil : fresh
        }

        /// Returns what is stored, or the response of the origin if there is no cache; `nil` if nothing is stored.
        private func firstResponse() async throws -> PipelineResponse? {
            do {
                let response = try await request(.offline)
                return response.cacheStatus?.reason == "only-if-cached" ? nil : response
            } catch let error as PipelineError where error.response?.cacheStatus?.reason == "only-if-cached" {
                return nil
            }
        }

        private func request(_ policy: CachePolicy) async throws -> PipelineResponse {
            var options = sequence.options
            options.cachePolicy = policy
            return try await sequence.provider.request(sequence.target, options: options)
        }
    }
}
