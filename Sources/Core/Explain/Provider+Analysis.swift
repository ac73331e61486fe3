import HTTPTypes

extension Provider {
    /// Sends a target many times and returns what each plugin of the stack costs.
    ///
    /// ```swift
    /// let analysis = try await provider.explain(running: .item(1), allocations: .thread)
    /// print(analysis)
    /// ```
    ///
    /// **Effects**: each round sends the request three times, with all that this entails for a server and for plugins:
    /// once through the stack as `request(_:options:)` does, once with each stage recorded, and once by calling the
    /// transport alone with the finished request. The order of the three alternates. One more round comes first as a
    /// warm-up. With 100 rounds, the transport therefore sends 303 requests, and more if a plugin retries. Use a stub,
    /// or few rounds. The plugins are those of the provider, with what they keep from earlier calls, so a cache
    /// responds after the first call. One call runs at a time. Work that a plugin continues in the background ends
    /// before the next call. Recording runs in a separate copy of the compiled stack; other calls are not affected.
    ///
    /// The time of a plugin excludes what runs inside its `next` or `send`, and what recording costs. It is measured
    /// with `ContinuousClock`, regardless of the provider's clock. Work that a plugin does while a body is read piece
    /// by piece counts as ``PipelineAnalysis/core``, and so does work in other tasks. An exchange plugin includes the
    /// one allocation with which the core guards its `send`. In a stack of more than 32 interceptors, they include the
    /// core's work.
    ///
    /// - Parameters:
    ///   - target: the target to send.
    ///   - options: the options of the calls; they override those of the target.
    ///   - rounds: the number of rounds, at least 1; defaults to 100.
    ///   - allocations: the counter of allocations; `nil`, the default, if they are not counted.
    /// - Returns: the costs per call, which print as a table.
    /// - Throws: the error of the first call that fails; ``PipelineError/Code-swift.struct/bodyConsumed`` if the
    ///   request's body cannot be replayed; ``PipelineError/Code-swift.struct/plugin`` if `allocations` counts those of
    ///   one thread, but each call changes threads.
    @concurrent
    public func explain(
        running target: Target,
        options: RequestOptions = RequestOptions(),
        rounds: Int = 100,
        allocations: PipelineAnalysis.AllocationCounter? = nil
    ) async throws -> PipelineAnalysis {
        try await explain(
            running: target,
            options: options,
            rounds: rounds,
            allocations: allocations,
            clock: PipelineClock(ContinuousClock())
        )
    }

    package func explain(
        running target: Target,
        options: RequestOptions = RequestOptions(),
        rounds: Int,
        allocations: PipelineAnalysis.AllocationCounter? = nil,
        clock: PipelineClock
    ) async throws -> PipelineAnalysis {
        precondition(rounds > 0, "an analysis has \(rounds) rounds, not at least 1")
        let settings = TimelineSettings(clock: clock, isAnalysis: true, allocations: allocations)
        let run = AnalysisRun(provider: self, target: target, options: options, settings: settings)
        var samples = AnalysisSamples(plugins)
        let name = try await run.measure(round: 0, into: &samples)
        samples = AnalysisSamples(plugins)
        samples.emptySpan = run.measureEmptySpan()
        for round in 1...rounds { try await run.measure(round: round, into: &samples) }
        guard allocations == nil || samples.isCounted else {
            throw PipelineError(
                .plugin,
                "a plugin or the transport continued each call on another thread, so the allocations of one thread "
                    + "are not those of the call; count those of the process"
            )
        }
        return samples.analysis(
            of: name,
            over: engine.pipeline.transport.name,
            countsAllocations: allocations != nil
        )
    }
}

/// The rounds of an analysis.
private final class AnalysisRun<Target: TargetType> {
    private let provider: Provider<Target>
    private let target: Target
    private let options: RequestOptions
    private let settings: TimelineSettings
    /// Records the stages of its calls.
    private let recording: Engine

    init(provider: Provider<Target>, target: Target, options: RequestOptions, settings: TimelineSettings) {
        self.provider = provider
        self.target = target
        self.options = options
        self.settings = settings
        let engine = provider.engine
        let pipeline = CompiledPipeline(engine.pipeline.plugins, engine.pipeline.transport, timing: .analysis)
        let callSettings = CallSettings(engine.settings, timeline: settings, finishers: pipeline.finishers)
        recording = Engine(pipeline, callSettings, engine.optionCheck)
    }

    deinit { settings.sent = nil }

    /// Measures one round; returns the name of the call.
    @discardableResult
    func measure(round: Int, into samples: inout AnalysisSamples) async throws -> String {
        let isBackward = round % 2 == 1
        var name = ""
        if isBackward { try await measureTransport(&samples) }
        if isBackward { try await measureCall(&samples) }
        name = try await record(&samples)
        if !isBackward { try await measureCall(&samples) }
        if !isBackward { try await measureTransport(&samples) }
        samples.yardsticks.append(measureYardstick())
        return name
    }

    private func measureCall(_ samples: inout AnalysisSamples) async throws {
        let begin = settings.lastReading()
        let response = try await provider.request(target, options: options)
        samples.total.add(from: begin, to: settings.firstReading())
        withExtendedLifetime(response) {}
        await provider.engine.settings.background.drain()
    }

    private func record(_ samples: inout AnalysisSamples) async throws -> String {
        let (call, response) = try await provider.record(target, options, with: recording)
        withExtendedLifetime(response) {}
        await provider.engine.settings.background.drain()
        guard let recorder = call.timeline else { return "" }
        let (entries, costs) = (recorder.entries, recorder.costs)
        samples.add(CallCosts(entries, costs, until: settings.firstReading()))
        return entries.first.map { recorder.text(of: $0.name) } ?? ""
    }

    private func measureTransport(_ samples: inout AnalysisSamples) async throws {
        guard let (request, context) = settings.sent else { return }
        guard request.body.isReplayable else {
            throw PipelineError(.bodyConsumed, "an analysis sends each request several times; use a replayable body")
        }
        let transport = provider.engine.pipeline.transport
        let begin = settings.lastReading()
        do {
            let response = try await transport.send(request, context: context)
            if response.body.inMemoryByteCount == nil { for try await _ in response.body.chunks() {} }
            samples.transport.add(from: begin, to: settings.firstReading())
        } catch {
            throw PipelineError(thrown: error, otherwise: .transport, "the transport threw").asThrown
        }
    }

    /// Returns the nanoseconds to build one request.
    private func measureYardstick() -> Double {
        let count = 50
        let begin = settings.clock.now
        for _ in 0..<count { withExtendedLifetime(makeRequest()) {} }
        return begin.duration(to: settings.clock.now) / .nanoseconds(count)
    }

    @inline(never)
    private func makeRequest() -> HTTPRequest {
        var fields = HTTPFields()
        fields[.accept] = "application/json"
        fields[.userAgent] = "shop/1.0"
        return HTTPRequest(
            method: .get,
            scheme: "https",
            authority: "api.example.com",
            path: "/v1/items/1",
            headerFields: fields
        )
    }

    /// Returns how long a span is in which nothing happens, in nanoseconds.
    func measureEmptySpan() -> Int {
        guard let (_, context) = settings.sent, let recorder = context.call.timeline else { return 0 }
        let first = recorder.costs.count
        for _ in 0..<200 { recorder.end(recorder.begin(.core, .text("empty"), context)) }
        let durations = recorder.costs[first...].compactMap { cost in
            cost.flatMap { cost in cost.innerEnd.map { cost.innerBegin.time.duration(to: $0.time).wholeNanoseconds } }
        }
        return durations.middle ?? 0
    }
}
