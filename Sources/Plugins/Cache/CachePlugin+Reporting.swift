import Logging
import Pipeline
import PipelineStores
import Synchronization

extension CachePlugin {
    /// How long no further failure is logged after one.
    static let warningPause = Duration.seconds(3_600)

    /// Passes on a failure of the store, and logs it unless one was logged shortly before.
    ///
    /// - Returns: whether it is logged.
    @discardableResult
    func report(_ error: any Error, at now: PipelineClock.Instant) -> Bool {
        onStoreFailure(error)
        // A store in memory fails only if a body does not fit.
        guard !store.returnsAtOnce, !Self.isOfBody(error) else { return false }
        let isDue = nextWarning.withLock { next in
            guard now >= next ?? now else { return false }
            next = now.advanced(by: Self.warningPause)
            return true
        }
        if isDue { LoggingPlugin.makeStandardLogger().warning("\(Self.warning(of: error))") }
        return isDue
    }

    /// Returns a text without secrets.
    static func warning(of error: any Error) -> String {
        let text = (error as? any SafelyDescribed)?.description ?? "\(type(of: error))"
        return "the store of a CachePlugin fails, so calls continue without it: \(text)"
    }

    /// Whether an error is about one body, and not about the store.
    private static func isOfBody(_ error: any Error) -> Bool {
        guard let code = (error as? CacheStoreError)?.code else { return false }
        return code == .tooLarge || code == .ended
    }
}
