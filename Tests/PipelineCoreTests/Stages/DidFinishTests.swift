import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Stages: didFinish, rule 5", .tags(.concurrent), .watched)
struct DidFinishTests {
    private let outcomes = Outcomes()
    private let clock = ManualClock()

    private func provider(
        _ steps: [ScriptedTransport.Step],
        _ plugins: [any PluginType] = [],
        limits: ProviderConfiguration.Limits = ProviderConfiguration.Limits()
    ) -> Provider<TestTarget> {
        Provider(
            transport: ScriptedTransport(steps),
            plugins: [outcomes] + plugins,
            configuration: .init(limits: limits, clock: clock)
        )
    }

    /// A step that advances the clock by the given duration.
    private func taking(_ duration: Duration, _ step: ScriptedTransport.Step) -> ScriptedTransport.Step {
        .answer { [clock] request, context in
            clock.advance(by: duration)
            return try await ScriptedTransport([step]).send(request, context: context)
        }
    }

    // MARK: Order

    @Test(
        "Rule 5: for plugins A, B, C didFinish runs C, B, A, once per call, after process and before the caller resumes"
    )
    func order() async throws {
        let journal = Journal()
        var plugins: [any PluginType] = ["A", "B", "C"].map { name in
            PluginStack.didFinish(name: name) { _, _ in journal.add(name) }
        }
        plugins.insert(Wrapper(name: "W", journal: Journal(), passes: 3), at: 1)
        plugins.append(.process { _, _ in journal.add("process") })
        _ = try await provider([.status(503), .status(503), .status(200)], plugins).request(TestTarget())
        journal.add("caller")
        #expect(journal.entries == ["process", "process", "process", "C", "B", "A", "caller"])
    }

    @Test("explain() shows didFinish once per call, whatever the plugin's position")
    func explained() {
        let provider = provider([], [Wrapper(name: "W", journal: Journal()), PluginStack.didFinish { _, _ in }])
        let stages = provider.explain().entries.map { entry in entry.stages.map { "\($0.stage) \($0.frequency)" } }
        #expect(stages.first == ["didFinish per call"])
        #expect(stages.last == ["didFinish per call"])
        #expect(provider.explain().entries.last?.name == "didFinish closure")
    }

    // MARK: Outcomes

    @Test("The outcome of a success has the status, attempts, exchanges, byte count and times")
    func success() async throws {
        let steps = [
            taking(.seconds(1), .status(503)), taking(.seconds(2), .status(302, headers: [.location: "/x"])),
            taking(.seconds(3), .status(200, body: .stream(AsyncStream<Data>(unfolding: stream("hello"))))),
        ]
        _ = try await provider(steps, [Wrapper(name: "W", journal: Journal(), passes: 2)]).request(TestTarget())
        let outcome = try #require(outcomes.all.first)
        #expect(outcomes.texts == ["success"])
        #expect(outcome.error == nil)
        #expect(outcome.statusCode == 200)
        #expect(outcome.attemptCount == 2)
        #expect(outcome.exchanges.map(\.statusCode) == [503, 302, 200])
        #expect(outcome.receivedByteCount == 5)
        #expect(outcome.duration == .seconds(6))
        #expect(outcome.timeToFirstByte == .seconds(6))
    }

    /// The pieces of a stream, one for each byte.
    private func stream(_ text: String) -> @Sendable () -> Data? {
        let rest = Mutex(Data(text.utf8)[...])
        return { rest.withLock { $0.popFirst().map { Data([$0]) } } }
    }

    @Test("P10 A status that is not accepted is a failure that has the status and the body's byte count")
    func validation() async throws {
        let error = await pipelineError {
            _ = try await provider([.status(404, body: "gone")]).request(TestTarget(validationType: .successCodes))
        }
        let outcome = try #require(outcomes.all.first)
        #expect(outcomes.texts == ["failure unacceptableStatus"])
        #expect(outcome.error.map { "\($0)" } == error.map { "\($0)" })
        #expect(outcome.statusCode == 404)
        #expect(outcome.receivedByteCount == 4)
        #expect(outcome.timeToFirstByte == nil)
    }

    @Test("didFinish sees calls without an exchange: a failed encoding, a failed plugin, a plugin's response")
    func withoutExchange() async throws {
        let task = RequestTask.requestJSONEncodable(Double.infinity)
        _ = try? await provider([]).request(TestTarget(method: .post, task: task))
        _ = try? await provider([], [.prepare { _, _ in throw TestFailure() }]).request(TestTarget())
        _ = try await provider([], [Wrapper(name: "W", journal: Journal(), passes: 0)]).request(TestTarget())
        #expect(outcomes.texts == ["failure encoding", "failure plugin", "success"])
        #expect(outcomes.all.map(\.attemptCount) == [0, 1, 1])
        #expect(outcomes.all.map(\.statusCode) == [nil, nil, 299])
        #expect(outcomes.all.allSatisfy { $0.exchanges.isEmpty && $0.timeToFirstByte == nil })
    }

    @Test("A call cancelled in flight has the outcome cancelled, with the exchange that it started")
    func cancelled() async throws {
        let transport = ScriptedTransport(always: .hang)
        let provider = Provider<TestTarget>(transport: transport, plugins: [outcomes])
        let call = Task { try await provider.request(TestTarget()) }
        await eventually { !transport.sent.isEmpty }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(outcomes.texts == ["cancelled cancelled"])
        #expect(outcomes.all.first?.exchanges.count == 1)
    }

    @Test("The outcome of a download has the file's byte count, or is a failure if the file cannot be placed")
    func download() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("a")
        let target = TestTarget(task: .downloadDestination(.file(file)))
        let provider = provider([.status(200, body: "hello"), .status(200, body: "hello")])
        _ = try await provider.request(target)
        _ = try? await provider.request(target)
        #expect(outcomes.all.map(\.kind) == [.success, .failure])
        #expect(outcomes.all.first?.receivedByteCount == 5)
    }

    @Test("A plugin that makes a call in didFinish stops at the limit of nested calls")
    func nested() async throws {
        let (ends, end) = AsyncStream.makeStream(of: PipelineError.Code?.self)
        let provider = Mutex<Provider<TestTarget>?>(nil)
        let again = PluginStack.didFinish { _, _ in
            provider.withLock { $0 }?.request(TestTarget()) { result in
                if case .failure(let error) = result { end.yield(error.code) } else { end.yield(nil) }
            }
        }
        let plugins: [any PluginType] = [again, outcomes]
        let transport = ScriptedTransport(always: .status(200))
        let made = Provider<TestTarget>(
            transport: transport,
            plugins: plugins,
            configuration: .init(limits: ProviderConfiguration.Limits(nestedCallCount: 3))
        )
        provider.withLock { $0 = made }
        _ = try await made.request(TestTarget())
        var codes: [PipelineError.Code?] = []
        var iterator = ends.makeAsyncIterator()
        while codes.count < 4, let code = await iterator.next() { codes.append(code) }
        provider.withLock { $0 = nil }
        #expect(codes.count { $0 == nil } == 2)
        #expect(codes.count { $0 == .limit(.nestedCalls) } == 2)
        #expect(outcomes.texts == ["success", "success", "success", "failure limit.nestedCalls"])
        #expect(transport.sent.count == 3)
    }
}
