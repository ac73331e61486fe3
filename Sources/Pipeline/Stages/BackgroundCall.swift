extension Stage.Next {
    /// Sends a request on in a call of its own, which goes on when this call has ended, to refresh what a plugin keeps.
    ///
    /// ```swift
    /// next.startBackgroundCall(request) { result in
    ///     if case .success(let response) = result { store[key] = response }
    /// }
    /// ```
    ///
    /// The call has its own ``PipelineContext/callID`` and outcome, and this one as its ``PipelineContext/parentID``. It has the target, the
    /// options and the identities of this call, but not its deadline, and no other value of its context that is not
    /// ``PipelineContextKey/isInherited``. It does not count as a call of `next`, and may begin after the interceptor has returned. Only plugins inside act on it, and those that observe.
    ///
    /// Its status is not validated, it writes no file, and its body is read into memory under ``PipelineLimits/bufferedBodyByteCount``.
    /// ``Provider/drain(within:)`` waits for it, ``Provider/shutdown()`` cancels it.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - end: gets what calling `next` would have returned or thrown.
    /// - Returns: the task, which has ended when `end` has returned; `nil` if the call is refused: 16 of the provider
    ///   are under way, the provider was shut down, calls nest deeper than ``PipelineLimits/nestedCallCount``, or the body cannot be
    ///   replayed.
    @discardableResult
    public func startBackgroundCall(
        _ request: PipelineRequest,
        then end: @escaping @Sendable (Result<PipelineResponse, any Error>) async -> Void
    ) -> Task<Void, Never>? {
        context.startBackgroundCall(request, run: { await interceptor.inside.run(request, $0) }, then: end)
    }
}

extension Stage.Send {
    /// Sends the request of this hop on in a call of its own, which goes on when this call has ended.
    ///
    /// It is what ``Stage/Next/startBackgroundCall(_:then:)`` is for interceptors. A redirect is not followed.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - end: gets what calling `send` would have returned or thrown, with the body in memory.
    /// - Returns: the task, which has ended when `end` has returned; `nil` if the call is refused.
    @discardableResult
    public func startBackgroundCall(
        _ request: PipelineRequest,
        then end: @escaping @Sendable (Result<PipelineResponse, any Error>) async -> Void
    ) -> Task<Void, Never>? {
        context.startBackgroundCall(request, run: { await hop.inside(index, request, $0).run().0 }, then: end)
    }
}

extension PipelineContext {
    /// The ``callID`` of the call that began this one with `startBackgroundCall`; `nil` for a call of its own.
    public var parentID: Int? { call.parentID }
}

extension Provider {
    /// Waits for the calls that plugins have begun in the background, and for those that they begin while it waits; not for calls of
    /// `request` and `stream`.
    ///
    /// Returns at once if no plugin has begun such a call, however many calls of `request` are under way: await their tasks first.
    /// <doc:Shutdown> shows the end of a program.
    ///
    /// - Parameter limit: the longest wait on the provider's clock, zero and up.
    /// - Returns: whether none is left; `false` also when the waiting task is cancelled.
    @discardableResult
    public func drain(within limit: Duration) async -> Bool {
        let settings = engine.settings
        guard !settings.background.isEmpty else { return true }
        let end: Void? = try? await settings.clock.run(within: limit, phase: .total) {
            await settings.background.drain()
            try Task.checkCancellation()
        }
        return end != nil
    }

    /// Cancels the calls that plugins have begun in the background, and refuses those to come; not calls of `request` and `stream`.
    ///
    /// The provider sends such calls as before, also new ones. To end them, cancel their tasks. <doc:Shutdown> shows the end of a program.
    public func shutdown() {
        engine.settings.background.shutdown()
    }
}
