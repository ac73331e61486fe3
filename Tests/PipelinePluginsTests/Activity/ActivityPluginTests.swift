import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("ActivityPlugin", .tags(.concurrent), .realTime, .watched)
struct ActivityPluginTests {
    /// The changes that the handler received, with their times.
    private final class Events: Sendable {
        private let clock: ManualClock
        private let all = Mutex<[String]>([])
        private let stream: AsyncStream<String>
        private let continuation: AsyncStream<String>.Continuation

        init(_ clock: ManualClock) {
            self.clock = clock
            (stream, continuation) = AsyncStream.makeStream()
        }

        var entries: [String] { all.withLock { $0 } }

        func add(_ isShown: Bool) {
            let entry = "\(isShown) at \(clock.now.offset)"
            all.withLock { $0.append(entry) }
            continuation.yield(entry)
        }

        /// Returns the next change that has not been returned yet.
        func next() async -> String? {
            var iterator = stream.makeAsyncIterator()
            return await iterator.next()
        }
    }

    private let clock: ManualClock
    private let events: Events

    init() {
        clock = ManualClock()
        events = Events(clock)
    }

    private func plugin(_ showAfter: Int, _ hold: Int) -> ActivityPlugin {
        ActivityPlugin(showAfter: .milliseconds(showAfter), hold: .milliseconds(hold)) { [events] in events.add($0) }
    }

    private func provider(_ step: ScriptedTransport.Step, _ plugins: any PluginType...) -> Provider<Ask> {
        Provider(transport: ScriptedTransport(always: step), plugins: plugins, configuration: .init(clock: clock))
    }

    private func delayed(_ milliseconds: Int) -> ScriptedTransport.Step {
        .delayed(.milliseconds(milliseconds), .status(200))
    }

    @Test("The plugin passes the conformance suite", arguments: [0, 500])
    func conformance(milliseconds: Int) async {
        let violations = await PluginConformance {
            ActivityPlugin(showAfter: .milliseconds(milliseconds), hold: .milliseconds(milliseconds)) { _ in }
        }.run()
        #expect(violations == [])
    }

    // MARK: Effects

    @Test("M165 With zero times, the handler runs when the first call begins and when the last one has ended")
    func beganAndEnded() async throws {
        let plugin = plugin(0, 0)
        let provider = provider(delayed(100), plugin)
        let calls = (1...3).map { _ in Task { try await provider.request(Ask()) } }
        #expect(await events.next() == "true at 0.0 seconds")
        try await clock.waitForSleepers(3)
        #expect(plugin.activeCallCount == 3)
        clock.advance(by: .milliseconds(100))
        for call in calls { #expect(try await call.value.statusCode == 200) }
        #expect(await events.next() == "false at 0.1 seconds")
        #expect(plugin.activeCallCount == 0)
        #expect(events.entries.count == 2)
    }

    @Test("A call that ends before showAfter is not shown; a longer one is, until hold has passed after its end")
    func showAfter() async throws {
        let plugin = plugin(200, 300)
        let quick = Task { [provider = provider(delayed(100), plugin)] in try await provider.request(Ask()) }
        try await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(100))
        _ = try await quick.value
        try await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(100))

        let long = Task { [provider = provider(delayed(1_000), plugin)] in try await provider.request(Ask()) }
        try await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(200))
        #expect(await events.next() == "true at 0.4 seconds")
        clock.advance(by: .milliseconds(800))
        _ = try await long.value
        try await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(299))
        clock.advance(by: .milliseconds(1))
        #expect(await events.next() == "false at 1.5 seconds")
        #expect(events.entries.count == 2)
    }

    @Test("A call that begins before hold is over keeps the indicator shown")
    func chained() async throws {
        let plugin = plugin(0, 300)
        let answers = AsyncStream.makeStream(of: Void.self)
        let answer = ScriptedTransport.Step.answer { request, _ in
            for await _ in answers.stream { break }
            return PipelineResponse(request: request, statusCode: 200)
        }
        let provider = provider(answer, plugin)
        for number in 1...5 {
            let call = Task { try await provider.request(Ask()) }
            await eventually { plugin.activeCallCount == 1 }
            if number == 1 { #expect(await events.next() == "true at 0.0 seconds") }
            clock.advance(by: .milliseconds(100))
            answers.continuation.yield()
            _ = try await call.value
            if number < 5 { clock.advance(by: .milliseconds(100)) }
        }
        // The end of hold may have moved while the plugin's task slept; the task then sleeps again.
        while events.entries.count < 2 {
            try await clock.waitForSleepers(1)
            try await clock.advanceToNextSleeper()
            await eventually { clock.sleeperCount > 0 || events.entries.count >= 2 }
        }
        #expect(events.entries == ["true at 0.0 seconds", "false at 1.2 seconds"])
    }

    private enum End: CaseIterable, Sendable {
        case failed
        case refused
        case cancelled
        case streamed
    }

    @Test(
        "M15 A call also ends when it fails, is cancelled or is never sent; a streamed one, with its header fields",
        arguments: End.allCases
    )
    private func ends(end: End) async throws {
        let plugin = plugin(0, 0)
        let never = PipelineBody.stream(AsyncStream<Data> { _ in })
        let (step, inner): (ScriptedTransport.Step, any PluginType) =
            switch end {
            case .failed: (.failure(.dns), .prepare { _, _ in })
            case .refused: (.status(200), .prepare { _, _ in throw PipelineError(.plugin, "no") })
            case .cancelled: (.hang, .prepare { _, _ in })
            case .streamed: (.status(200, body: never), .prepare { _, _ in })
            }
        let provider = provider(step, plugin, inner)
        let call = Task { try await provider.stream(Ask()) }
        #expect(await events.next() == "true at 0.0 seconds")
        if end == .cancelled { call.cancel() }
        let result = await call.result
        #expect(await events.next() == "false at 0.0 seconds")
        #expect(plugin.activeCallCount == 0)
        withExtendedLifetime(result) {}
    }

    @Test("No call waits for the handler, which runs for one change at a time, alternating true and false")
    func slowHandler() async throws {
        let (gate, opener) = AsyncStream.makeStream(of: Never.self)
        let told = Mutex<[Bool]>([])
        let running = Atomic(0)
        let most = Atomic(0)
        let (done, end) = AsyncStream.makeStream(of: Void.self)
        let plugin = ActivityPlugin(showAfter: .zero, hold: .zero) { isShown in
            let count = running.add(1, ordering: .relaxed).newValue
            most.max(count, ordering: .relaxed)
            for await _ in gate {}
            told.withLock { $0.append(isShown) }
            running.subtract(1, ordering: .relaxed)
            if !isShown { end.yield() }
        }
        let provider = provider(.status(200), plugin)
        for _ in 1...100 { _ = try await provider.request(Ask()) }
        #expect(told.withLock { $0 }.isEmpty)
        opener.finish()
        for await _ in done { break }
        _ = try await provider.request(Ask())
        for await _ in done { break }
        let all = told.withLock { $0 }
        // While the handler waited, all but the first and the last of the hundred calls' changes cancelled out.
        #expect(all.count <= 6)
        #expect(all == all.indices.map { $0 % 2 == 0 })
        #expect(most.load(ordering: .relaxed) == 1)
    }

    @Test("The handler may make calls, which are not nested in the call that triggered it")
    func callsOfTheHandler() async throws {
        let (results, told) = AsyncStream.makeStream(of: Int.self)
        let other = Provider<Ask>(
            transport: ScriptedTransport(always: .status(204)),
            plugins: [.prepare { _, _ in }],
            configuration: .init(limits: ProviderConfiguration.Limits(nestedCallCount: 1))
        )
        let plugin = ActivityPlugin(showAfter: .zero, hold: .zero) { _ in
            told.yield((try? await other.request(Ask()).statusCode) ?? 0)
        }
        _ = try await provider(.status(200), plugin).request(Ask())
        for await result in results {
            #expect(result == 204)
            break
        }
    }

    @Test("The plugin has at most one task, which ends when no change is pending")
    func oneTask() async throws {
        let plugin = plugin(200, 300)
        let provider = provider(.status(200), plugin)
        var most = 0
        for _ in 1...200 {
            _ = try await provider.request(Ask())
            most = max(most, clock.sleeperCount)
        }
        let long = Task { [provider = self.provider(delayed(100), plugin)] in try await provider.request(Ask()) }
        try await clock.waitForSleepers(2)
        #expect(most <= 1)
        #expect(clock.sleeperCount == 2)
        clock.advance(by: .milliseconds(100))
        _ = try await long.value
        clock.advance(by: .milliseconds(200))
        #expect(clock.sleeperCount == 0)
        #expect(events.entries.isEmpty)
    }

    @Test("Calls of all providers that share the plugin count together, whenever the providers were created")
    func shared() async throws {
        let plugin = plugin(200, 0)
        let first = provider(delayed(300), plugin)
        clock.advance(by: .seconds(1_000))
        let second = provider(delayed(300), plugin)
        let one = Task { try await first.request(Ask()) }
        try await clock.waitForSleepers(2)
        clock.advance(by: .milliseconds(100))
        let two = Task { try await second.request(Ask()) }
        try await clock.waitForSleepers(3)
        #expect(plugin.activeCallCount == 2)
        clock.advance(by: .milliseconds(100))
        #expect(await events.next() == "true at 1000.2 seconds")
        clock.advance(by: .milliseconds(100))
        _ = try await one.value
        clock.advance(by: .milliseconds(100))
        _ = try await two.value
        #expect(await events.next() == "false at 1000.4 seconds")
        #expect(events.entries.count == 2)
    }

    @Test("1,000 concurrent calls, some of them cancelled, leave the count at zero and the indicator hidden")
    func storm() async throws {
        let plugin = plugin(0, 0)
        let provider = provider(delayed(100), plugin)
        let calls = (0..<1_000).map { number in
            let call = Task { try await provider.request(Ask()) }
            if number % 3 == 0 { call.cancel() }
            return call
        }
        try await clock.waitForSleepers(600)
        await eventually {
            clock.advanceIfAnyoneSleeps()
            return clock.sleeperCount == 0 && plugin.activeCallCount == 0
        }
        for call in calls { _ = await call.result }
        await eventually { events.entries.last?.hasPrefix("false") == true }
        let shown = events.entries.map { $0.hasPrefix("true") }
        #expect(shown == shown.indices.map { $0 % 2 == 0 })
        #expect(plugin.activeCallCount == 0)
    }

    // MARK: Position

    @Test(
        "Outside a plugin that retries, the waits between attempts are counted; inside it, they are not",
        arguments: [true, false]
    )
    func retry(isOutside: Bool) async throws {
        let plugin = plugin(0, 0)
        let again = PluginStack.sendingAgain(2, after: .seconds(1))
        let provider =
            isOutside ? provider(.status(500), plugin, again) : provider(.status(500), again, plugin)
        let call = Task { try await provider.request(Ask()) }
        try await clock.waitForSleepers(1)
        #expect(plugin.activeCallCount == (isOutside ? 1 : 0))
        clock.advance(by: .seconds(1))
        _ = try await call.value
        #expect(plugin.activeCallCount == 0)
    }

    @Test(
        "explain() reports the plugin inside a plugin that retries or shares responses",
        arguments: [RetryPlugin(), DeduplicationPlugin()] as [any PluginType]
    )
    func findings(other: any PluginType) {
        let findings = provider(.status(200), other, plugin(0, 0)).explain().findings
        #expect(findings.map(\.plugins) == [["ActivityPlugin", other.name]])
        #expect(findings.allSatisfy { $0.id.hasPrefix("span-inside-") })
        #expect(provider(.status(200), plugin(0, 0), other).explain().findings.isEmpty)
    }

    @Test("A negative time traps with a message that gives its value")
    func preconditions() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = ActivityPlugin(showAfter: .seconds(-1)) { _ in }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("showAfter is -1.0 seconds, less than zero"))
        await #expect(processExitsWith: .failure) { _ = ActivityPlugin(hold: .seconds(-1)) { _ in } }
    }

    @Test("Over loopback HTTP, a call is shown while the server delays its response")
    func loopback() async throws {
        let server = try LoopbackServer { _ in [.hold("answer"), .respond(200, body: "hello")] }
        defer { server.stop() }
        let provider = Provider<Ask>(
            transport: URLSessionTransport(),
            plugins: [plugin(200, 0)],
            configuration: .init(clock: clock)
        )
        let call = Task { try await provider.request(Ask(url: "\(server.url)")) }
        try await server.wait { $0.holdCount == 1 }
        try await clock.waitForSleepers(1)
        clock.advance(by: .milliseconds(200))
        #expect(await events.next() == "true at 0.2 seconds")
        server.release("answer")
        #expect(try await call.value.data == Data("hello".utf8))
        #expect(await events.next() == "false at 0.2 seconds")
    }
}
