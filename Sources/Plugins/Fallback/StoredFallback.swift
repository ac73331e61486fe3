import Pipeline

/// Lets ``CachePlugin`` respond with a stale response once everything inside has failed.
struct StoredFallback: Sendable {
    func intercept(
        _ request: PipelineRequest,
        _ context: PipelineContext,
        _ next: Stage.Next,
        onServed: () -> Void
    ) async throws -> PipelineResponse {
        context.update(StaleFallback.self) { $0 = .afterRetries }
        do {
            var response = try await next(request)
            guard StaleFallback.isServerError(response.statusCode), Self.begin(context) else { return response }
            await response.discardBody(context)
            guard let stale = try? await next(request), stale.cacheStatus?.kind == .stale else {
                try Task.checkCancellation()
                return response
            }
            onServed()
            return stale
        } catch {
            guard !Task.isCancelled, Self.begin(context) else { throw error }
            guard let stale = try? await next(request), stale.cacheStatus?.kind == .stale else {
                try Task.checkCancellation()
                throw error
            }
            onServed()
            return stale
        }
    }

    private static func begin(_ context: PipelineContext) -> Bool {
        // In a shared exchange, the cache sets the state of the call that led it, and of no other.
        let isShared = context.convoy?.hasStale ?? false
        return context.update(StaleFallback.self) { state in
            guard state == .available || isShared else { return false }
            state = .now
            return true
        }
    }
}

/// When a call uses a stale response after an error.
enum StaleFallback: PipelineContextKey {
    enum State {
        /// The cache responds itself.
        case atOnce
        /// A plugin outside waits until all retries have failed.
        case afterRetries
        /// That plugin waits, and the cache has a response.
        case available
        /// The cache responds without an exchange.
        case now
    }

    static let defaultValue = State.atOnce

    static func isServerError(_ statusCode: Int) -> Bool {
        [500, 502, 503, 504].contains(statusCode)
    }
}
