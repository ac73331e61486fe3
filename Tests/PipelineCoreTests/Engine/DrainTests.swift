import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineCore

@Suite("drain(within:): waiting for calls in progress", .tags(.concurrent), .watched)
struct DrainTests {
    private let clock = ManualClock()

    private func provider(_ steps: [ScriptedTransport.Step], _ plugins: any PluginType...) -> Provider<TestTarget> {
        Provider(transport: ScriptedTransport(steps), plugins: plugins, configuration: .init(clock: clock))
    }

    private static let delayed = ScriptedTransport.Step.delayed(.seconds(5), .status(200, body: "[1]"))

    @Test(
        "drain waits for a call in progress, whatever method made it, and for no longer than its limit",
        arguments: ["request", "request(as:)", "download", "stream", "progress", "callback", "callback with progress"]
    )
    func kinds(method: String) async throws {
        let folder = try TemporaryFolder()
        let provider = provider([Self.delayed])
        #expect(await provider.drain(within: .zero))
        let call = Task {
            switch method {
            case "request(as:)": _ = try await provider.request(TestTarget(), as: [Int].self)
            case "download":
                let target = TestTarget(task: .downloadDestination(.file(folder.file("list.json"))))
                _ = try await provider.request(target)
            case "stream": _ = try await provider.stream(TestTarget())
            case "progress": for try await _ in provider.requestWithProgress(TestTarget()) {}
            case "callback": await provider.request(TestTarget()) { _ in }.value
            case "callback with progress": await provider.request(TestTarget(), progress: { _ in }) { _ in }.value
            default: _ = try await provider.request(TestTarget())
            }
        }
        try await clock.waitForSleepers()
        let isDrainedTooSoon = Task { await provider.drain(within: .seconds(2)) }
        let isDrained = Task { await provider.drain(within: .seconds(9)) }
        try await clock.waitForSleepers(3)
        clock.advance(by: .seconds(2))
        #expect(await isDrainedTooSoon.value == false)
        clock.advance(by: .seconds(3))
        #expect(await isDrained.value)
        try await call.value
        #expect(clock.now.offset == .seconds(5))
    }

    @Test(
        "A streamed call is in progress until its body is read to its end, fails or is released",
        arguments: [
            "read", "failed", "released", "released unread",
        ],
        [false, true]
    )
    func streams(end: String, isObserved: Bool) async throws {
        let (body, pieces) = AsyncThrowingStream<Data, any Error>.makeStream()
        let observer: [any PluginType] = isObserved ? [PluginStack.didFinish { _, _ in }] : []
        let provider = provider([.status(200, body: .stream(body))], PluginStack(observer))
        var response: StreamedResponse? = try await provider.stream(TestTarget())
        if end != "released unread" {
            var iterator = response?.body.makeAsyncIterator()
            pieces.yield(Data("a".utf8))
            #expect(try await iterator?.next() == Data("a".utf8))
            #expect(await provider.drain(within: .zero) == false)
            if end == "read" { pieces.finish() }
            if end == "failed" { pieces.finish(throwing: PipelineError(.connectionLost, "")) }
            if end != "released" { _ = try? await iterator?.next() }
            iterator = nil
        }
        // The end of the body counts, even if the response is still there.
        if end == "released unread" {
            #expect(await provider.drain(within: .zero) == false)
            response = nil
        }
        #expect(await provider.drain(within: .zero))
        withExtendedLifetime(response) {}
    }

    @Test("A connection of server-sent events is in progress until the loop is left")
    func events() async throws {
        let (body, pieces) = AsyncStream<Data>.makeStream()
        let head = ScriptedTransport.Step.status(200, headers: [.contentType: "text/event-stream"], body: .stream(body))
        let provider = provider([head])
        pieces.yield(Data("data: a\n\n".utf8))
        func readOne() async throws {
            for try await event in provider.serverSentEvents(TestTarget()) {
                #expect(event.data == "a")
                #expect(await provider.drain(within: .zero) == false)
                break
            }
        }
        try await readOne()
        #expect(await provider.drain(within: .zero))
    }

    @Test("A call with a completion is in progress as soon as its method returns, until the completion has returned")
    func callbacks() async throws {
        let provider = provider([.status(200)])
        let (queue, isHeld) = (DispatchQueue(label: "held"), DispatchSemaphore(value: 0))
        queue.async { isHeld.waitForSignal() }
        defer { isHeld.signal() }
        let call = provider.request(TestTarget(), callbackExecutor: .queue(queue)) { _ in }
        try #require(await provider.drain(within: .zero) == false)
        async let isDrained = provider.drain(within: .seconds(1))
        try await clock.waitForSleepers()
        isHeld.signal()
        #expect(await isDrained)
        await call.value
    }

    @Test("A call that begins during the wait is accepted and waited for")
    func newCalls() async throws {
        let provider = provider([Self.delayed, Self.delayed])
        async let first = provider.request(TestTarget())
        try await clock.waitForSleepers()
        async let isDrained = provider.drain(within: .seconds(60))
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(3))
        async let second = provider.request(TestTarget())
        try await clock.waitForSleepers(3)
        clock.advance(by: .seconds(2))
        #expect(try await first.statusCode == 200)
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(3))
        #expect(try await second.statusCode == 200)
        #expect(await isDrained)
    }

    @Test("A plugin that waits for its own call gets false when the limit is over, and the call continues")
    func ownCall() async throws {
        let results = Journal()
        let made = Mutex<Provider<TestTarget>?>(nil)
        let waiting = PluginStack.intercept { request, _, next in
            let provider = made.withLock { $0 }
            if await provider?.drain(within: .seconds(5)) == false { results.add("not drained") }
            return try await next(request)
        }
        let provider = provider([.status(200)], waiting)
        made.withLock { $0 = provider }
        async let response = provider.request(TestTarget())
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(5))
        #expect(try await response.statusCode == 200)
        #expect(results.entries == ["not drained"])
        #expect(await provider.drain(within: .zero))
        made.withLock { $0 = nil }
    }

    @Test(
        "A call that ends before it is sent does not stay in progress",
        arguments: [
            "cancelled", "no endpoint", "not encodable", "nested too deep", "failed", "unaccepted", "not decodable",
        ]
    )
    func failures(kind: String) async throws {
        struct Refused: Error {}
        let status = kind == "unaccepted" ? 500 : 200
        let step = kind == "failed" ? ScriptedTransport.Step.failure(.connectionLost) : .status(status, body: "{")
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: step),
            plugins: kind == "nested too deep" ? [PluginStack.prepare { _, _ in }] : [],
            configuration: .init(limits: ProviderConfiguration.Limits(nestedCallCount: 1), clock: clock)
        ) { target in
            if kind == "no endpoint" { throw Refused() }
            return Endpoint(target)
        }
        let target =
            kind == "not encodable"
            ? TestTarget(method: .post, task: .requestJSONEncodable(Double.nan)) : TestTarget()
        let call = Task {
            if kind == "cancelled" { await eventually { Task.isCancelled } }
            await CallDepth.$current.withValue(kind == "nested too deep" ? 1 : 0) {
                await #expect(throws: (any Error).self) { try await provider.request(target, as: [Int].self) }
                await #expect(throws: (any Error).self) {
                    try await provider.stream(target).response.map([Int].self)
                }
            }
        }
        if kind == "cancelled" { call.cancel() }
        await call.value
        #expect(await provider.drain(within: .zero))
    }

    @Test("Every waiting task continues when the last of many concurrent calls has ended")
    func race() async throws {
        let provider = Provider<TestTarget>(transport: ScriptedTransport(always: .status(200)))
        for _ in 1...50 {
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<40 {
                    group.addTask {
                        if index.isMultiple(of: 2) { return await provider.callsInProgress.drain() }
                        _ = try? await provider.request(TestTarget())
                    }
                }
            }
        }
        #expect(await provider.drain(within: .zero))
    }
}
