/// Where callbacks run: on the actor that a callback is isolated to, else on `executor`, else in the background.
package struct CallbackPlace: Sendable {
    package var executor: (any TaskExecutor)?

    package init(executor: (any TaskExecutor)? = nil) {
        self.executor = executor
    }

    /// Runs a callback on its actor or in the place for callbacks without one, and waits until it has returned.
    ///
    /// - Parameters:
    ///   - actor: the actor that the callback is isolated to.
    ///   - isOff: called in the same place immediately before the callback; `true` skips the callback.
    ///   - callback: the closure to run.
    /// - Returns: whether the callback ran.
    @concurrent
    @discardableResult
    package func run(
        isolatedTo actor: (any Actor)?,
        unless isOff: @Sendable () -> Bool = { false },
        _ callback: @Sendable () async -> Void
    ) async -> Bool {
        guard actor == nil, let executor else { return await Self.run(on: actor, isOff, callback) }
        return await withTaskExecutorPreference(executor) { await Self.run(on: nil, isOff, callback) }
    }

    private static func run(
        on actor: isolated (any Actor)?,
        _ isOff: () -> Bool,
        _ callback: () async -> Void
    ) async -> Bool {
        // `isOff()` is synchronous, so it is sure to run on the actor; the asynchronous callback switches to its actor
        // on its own.
        if isOff() { return false }
        await callback()
        return true
    }
}
