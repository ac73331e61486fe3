extension PipelineResponse {
    /// Reads the rest of a body that the call does not need, so that its connection can be reused.
    ///
    /// It reads at most ``ProviderConfiguration/Limits/discardedBodyByteCount`` bytes, for at most
    /// ``ProviderConfiguration/Limits/discardedBodyDuration`` on the provider's clock. A body that ends within both
    /// limits is in memory afterwards. Any other body is closed together with its exchange, and the response then has
    /// none. A body that is already in memory stays as it is. A failure of the body is ignored.
    ///
    /// Call it in a plugin before you retry the request or return another response:
    ///
    /// ```swift
    /// var response = try await next(request)
    /// if response.statusCode == 503 {
    ///     await response.discardBody(context)
    ///     response = try await next(request)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - context: the context of the call, for its limits and its clock.
    ///   - time: a limit shorter than ``ProviderConfiguration/Limits/discardedBodyDuration``, such as a wait that
    ///     reading must not prolong; `nil` for no shorter limit.
    @inline(never)
    public mutating func discardBody(_ context: PipelineContext, within time: Duration? = nil) async {
        guard body.bytes == nil else { return }
        openExchange?.beginDiscarding()
        let unread = body
        let limits = context.limits
        let timeout = min(time ?? limits.discardedBodyDuration, limits.discardedBodyDuration)
        let data = try? await context.clock.run(within: timeout) {
            try await unread.collect(upTo: limits.discardedBodyByteCount)
        }
        body = data.map { .bytes($0) } ?? .absent
    }
}
