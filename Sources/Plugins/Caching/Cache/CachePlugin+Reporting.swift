import PipelineCore

extension CachePlugin {
    /// Passes on a failure of the store, and logs it unless one was logged shortly before.
    ///
    /// - Returns: whether it is logged.
    @discardableResult
    func report(_ error: any Error, at now: PipelineClock.Instant, to log: OperatorLog) -> Bool {
        onStoreFailure(error)
        // A store in memory fails only if a body does not fit.
        guard !store.returnsAtOnce, !Self.isOfBody(error) else { return false }
        return warnings.log(error, at: now, to: log)
    }

    /// Whether an error is about one body, and not about the store.
    private static func isOfBody(_ error: any Error) -> Bool {
        guard let code = (error as? CacheStoreError)?.code else { return false }
        return code == .tooLarge || code == .ended
    }
}
