extension Provider {
    /// Returns the progress of a call, which starts when the sequence is iterated.
    ///
    /// - Parameters:
    ///   - target: the target to send.
    ///   - options: the options of this call; they override those of the target.
    /// - Returns: the steps of the call; the last one has the response.
    public func requestWithProgress(
        _ target: Target,
        options: RequestOptions = RequestOptions()
    ) -> RequestProgress {
        RequestProgress { meter in
            await self.perform(target, options, isStreaming: false, meter: meter).finished()
        }
    }

    /// Performs a call and delivers its steps one at a time.
    func perform(
        _ target: Target,
        _ options: RequestOptions,
        deliver: @escaping @Sendable (ProgressResponse) async -> Void
    ) async -> CallResult {
        let (steps, continuation) = AsyncStream<ProgressResponse>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let meter = ProgressMeter { continuation.yield($0) }
        async let performed = {
            defer { continuation.finish() }
            return await perform(target, options, isStreaming: false, meter: meter).finished()
        }()
        for await step in steps { await deliver(step) }
        let result = await performed
        if case .success(let response) = result { await deliver(meter.end(with: response)) }
        return result
    }
}
