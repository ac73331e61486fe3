extension Stage.Next {
    /// Sends a request in a background call, which continues after this call has ended, to refresh what a plugin keeps.
    ///
    /// ```swift
    /// next.startBackgroundCall(request) { result in
    ///     if case .success(let response) = result { store[key] = response }
    /// }
    /// ```
    ///
    /// The background call has its own ``PipelineContext/callID`` and outcome. Its ``PipelineContext/parentID`` is the
    /// ID of this call. It has the target, the options and the identities of this call, but not its deadline. It
    /// inherits other values of the context only if their key is ``PipelineContext/Key/isInherited``. It does not count
    /// as a call of `next`, and may begin after the interceptor has returned. Only plugins inside the interceptor act
    /// on it; all observers see it.
    ///
    /// The status of its response is not validated, and no file is written. Its body is read into memory, up to
    /// ``ProviderConfiguration/Limits/bufferedBodyByteCount``. ``Provider/drain(within:)`` waits for it, and
    /// ``Provider/shutdown()`` cancels it.
    ///
    /// - Parameters:
    ///   - request: the request to send.
    ///   - end: a closure that receives what calling `next` would have returned or thrown.
    /// - Returns: the task, which ends when `end` has returned; `nil` if the call is refused. A call is refused if 16
    ///   background calls of the provider are in progress, the provider was shut down, calls nest deeper than
    ///   ``ProviderConfiguration/Limits/nestedCallCount``, or the body cannot be replayed.
    @discardableResult
    public func startBackgroundCall(
        _ request: PipelineRequest,
        then end: @escaping @Sendable (Result<PipelineResponse, any Error>) async -> Void
    ) -> Task<Void, Never>? {
        let run = { @Sendable [interceptor] child in
            (await interceptor.inside.run(request, child).inMemory(child), Hop?.none)
        }
        return context.startBackgroundCall(request, isOpen: false, run: run, then: end)
    }
}

extension Stage.Send {
    /// Sends the request of this hop in a background call, which continues after this call has ended.
    ///
    /// This is the counterpart of ``Stage/Next/startBackgroundCall(_:then:)`` for exchange plugins. Redirects are not
    /// followed, and the body of the response is not read into memory. The part of it that `end` has not read is
    /// discarded; see ``PipelineResponse/discardBody(_:within:)``.
    ///
    /// - Parameters:
    ///   - request: the request to send.
    ///   - end: a closure that receives what calling `send` would have returned or thrown.
    /// - Returns: the task, which ends when `end` has returned; `nil` if the call is refused.
    @discardableResult
    public func startBackgroundCall(
        _ request: PipelineRequest,
        then end: @escaping @Sendable (Result<PipelineResponse, any Error>) async -> Void
    ) -> Task<Void, Never>? {
        let run = { @Sendable [hop, index] child in
            let inside = hop.inside(index, request, child)
            return (await inside.open(), Hop?.some(inside))
        }
        return context.startBackgroundCall(request, isOpen: true, run: run, then: end)
    }
}

extension PipelineContext {
    /// The ``callID`` of the call that began this one with `startBackgroundCall`; `nil` if this is not a background
    /// call.
    public var parentID: Int? { call.parentID }
}

extension Provider {
    /// Waits until no call of the provider is in progress.
    ///
    /// It waits for calls of all methods of the provider and for the background calls of plugins. New calls are
    /// accepted during the wait, which ends only when they have ended as well. <doc:OnAServer> shows the end of a
    /// program.
    ///
    /// A call with a completion ends when that has returned. A call of `stream` ends when its body has been read, or
    /// released before its end; so does each connection of `serverSentEvents`.
    ///
    /// A call does not end while it waits for this method: if a plugin awaits it within a call, it returns `false` when
    /// the limit is over.
    ///
    /// - Parameter limit: the longest time to wait on the provider's clock, zero and up.
    /// - Returns: whether no call is left; `false` also if the waiting task is cancelled.
    @discardableResult
    public func drain(within limit: Duration) async -> Bool {
        let settings = engine.settings
        guard !settings.inProgress.isEmpty else { return true }
        let end: Void? = try? await settings.clock.run(within: limit, phase: .total) {
            await settings.inProgress.drain()
            try Task.checkCancellation()
        }
        return end != nil
    }

    /// Cancels the background calls that plugins have begun, and refuses new ones.
    ///
    /// Calls of `request` and `stream` are not affected, and the provider still accepts new ones. To end them, cancel
    /// their tasks. <doc:OnAServer> shows the end of a program.
    public func shutdown() {
        engine.settings.background.shutdown()
    }
}
