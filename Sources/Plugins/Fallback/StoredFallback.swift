import Pipeline

/// Lets ``CachePlugin`` respond with a stale response once everything inside has failed.
struct StoredFallback: Sendable {
    func intercept(
        _ request: PipelineRequest,
        _ context: PipelineContext,
        _ next: Stage.Next,
        onServed: () -> Void
    ) async throws -> PipelineResponse {
        context.update(StaleUse.self) { $0 = .afterRetries }
        do {
            var response = try await next(request)
            guard StaleUse.mayReplace(response.statusCode), Self.begin(context) else { return response }
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
        let isShared = context.sharedOutcome?.hasStaleResponse ?? false
        return context.update(StaleUse.self) { state in
            guard state == .available || isShared else { return false }
            state = .required
            return true
        }
    }
}
