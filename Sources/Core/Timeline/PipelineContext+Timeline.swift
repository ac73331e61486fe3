extension PipelineContext {
    /// The timeline of the call so far; `nil` unless ``ProviderConfiguration/timeline`` is `true`.
    public var timeline: Timeline? { call.shownTimeline }

    /// Runs work, and records it in the timeline of the call; without a timeline, only runs it.
    ///
    /// ```swift
    /// try await context.recordSpan("rate limit", as: .wait) { try await context.clock.sleep(for: delay) }
    /// ```
    ///
    /// - Parameters:
    ///   - name: what the time is spent on; it must not contain a secret.
    ///   - kind: whether the plugin works or waits.
    ///   - work: the work.
    /// - Returns: what the work returns.
    /// - Throws: what the work throws.
    public nonisolated(nonsending) func recordSpan<Output, Failure: Error>(
        _ name: @autoclosure () -> String,
        as kind: Timeline.Span.Kind = .work,
        _ work: nonisolated(nonsending) () async throws(Failure) -> Output
    ) async throws(Failure) -> Output {
        guard let recorder = call.timeline else { return try await work() }
        let span = recorder.begin(kind, .text(name()), self)
        do {
            let output = try await work()
            recorder.end(span)
            return output
        } catch {
            recorder.end(span, TimelineRecorder.outcome(of: error))
            throw error
        }
    }

    /// Returns the context for what happens inside a span.
    func inside(_ span: Int?) -> PipelineContext {
        var copy = self
        if let span { copy.span = span }
        return copy
    }
}

extension CallState {
    /// The timeline that plugins and the caller see.
    var shownTimeline: Timeline? {
        guard let timeline, !timeline.settings.isAnalysis else { return nil }
        return Timeline(recorder: timeline)
    }
}
