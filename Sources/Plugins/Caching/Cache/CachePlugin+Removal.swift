import Foundation
import PipelineCore

extension CachePlugin {
    /// Removes the responses of resources that have changed.
    ///
    /// What the store cannot remove in time is removed in the background.
    func invalidate(_ resources: [String], _ context: PipelineContext) async {
        for resource in resources { invalidations.add(resource) }
        for resource in resources { _ = await removePending(resource, .removal, context) }
        retryRemovals(context)
    }

    /// Removes a response that must not be used any more; if the store fails, all those of its resource later.
    func remove(_ entry: CacheEntry, of resource: String?, _ context: PipelineContext) async {
        let isRemoved = await limited(context, .removal) { [store] in
            try await store.remove(entry)
            return true
        }
        guard isRemoved == nil, let resource else { return }
        invalidations.addPending(resource)
        retryRemovals(context)
    }

    /// Removes the responses of a resource that has changed; returns `false` if the store fails.
    func removePending(
        _ resource: String,
        _ operation: StoreOperation,
        _ context: PipelineContext
    ) async -> Bool {
        guard let number = invalidations.pending(resource) else { return true }
        let now = context.clock.date
        let isRemoved = await limited(context, operation) { try await self.remove(resource, at: now) }
        guard isRemoved == true else { return false }
        invalidations.end(resource, number)
        return true
    }

    /// Removes the responses of a resource; returns `nil` if the store has no usable secret.
    private func remove(_ resource: String, at now: Date) async throws -> Bool? {
        guard let hash = try await hash(at: now) else { return nil }
        try await store.remove(resource: hash(resource))
        return true
    }

    /// Removes in the background what the store has not removed, until it has.
    ///
    /// One task retries all removals, at first after 100 ms, later each minute. A store that has failed for an hour is
    /// left alone until the next change.
    private func retryRemovals(_ context: PipelineContext) {
        guard invalidations.beginRetries() else { return }
        let (clock, log) = (context.clock, context.operatorLog)
        Task(executorPreference: clock.taskExecutor) { [self] in
            let start = clock.now
            var pause = Duration.milliseconds(100)
            var givesUp = false
            while let resources = invalidations.endRetries(givesUp: givesUp) {
                do { try await clock.sleep(for: pause) } catch { givesUp = true }
                for resource in resources { await retryRemoval(of: resource, on: clock, log) }
                pause = min(pause * 2, .seconds(60))
                givesUp = givesUp || start.duration(to: clock.now) > .seconds(3_600)
            }
        }
    }

    private func retryRemoval(of resource: String, on clock: PipelineClock, _ log: PipelineContext.OperatorLog) async {
        guard let number = invalidations.pending(resource) else { return }
        do {
            let now = clock.date
            let isRemoved = try await removalWork.run(.removal, on: clock) { try await self.remove(resource, at: now) }
            if isRemoved == true { invalidations.end(resource, number) }
        } catch {
            report(error, at: clock.now, to: log)
        }
    }
}
