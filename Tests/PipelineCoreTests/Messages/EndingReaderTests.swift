import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Stages: didFinish of streams, rule 5", .tags(.concurrent), .watched)
struct EndingReaderTests {
    private let outcomes = Outcomes()
    private let feed = Feed()

    private func stream(
        _ plugins: [any PluginType] = [],
        byteCount: Int? = nil,
        status: Int = 200
    ) async throws -> StreamedResponse {
        let step = ScriptedTransport.Step.status(status, body: .stream(feed, byteCount: byteCount))
        let provider = Provider<TestTarget>(transport: ScriptedTransport(always: step), plugins: [outcomes] + plugins)
        return try await provider.stream(TestTarget(validationType: .successCodes))
    }

    @Test("didFinish runs when the body has ended, before the reader resumes, with the number of bytes read")
    func end() async throws {
        let journal = Journal()
        let response = try await stream([.didFinish { _, _ in journal.add("didFinish") }])
        for count in 1...3 { feed.send(count) }
        feed.finish()
        for try await chunk in response.body {
            journal.add("\(chunk.count)")
            #expect(outcomes.count == 0)
        }
        journal.add("caller")
        #expect(journal.entries == ["1", "2", "3", "didFinish", "caller"])
        #expect(outcomes.texts == ["success"])
        #expect(outcomes.all.first?.receivedByteCount == 6)
        #expect(outcomes.all.first?.statusCode == 200)
        #expect(outcomes.all.first?.exchanges.count == 1)
    }

    @Test("A failed body is a failure with its status, request and exchanges")
    func failure() async throws {
        let response = try await stream()
        feed.send(7)
        feed.finish(throwing: PipelineError(.connectionLost, "by test"))
        let error = await pipelineError { for try await _ in response.body {} }
        let outcome = try #require(outcomes.all.first)
        #expect(error?.code == .connectionLost)
        #expect(outcomes.texts == ["failure connectionLost"])
        #expect(outcome.statusCode == 200)
        #expect(outcome.receivedByteCount == 7)
        #expect(outcome.error?.request?.host == "api.example.com")
        #expect(outcome.error?.exchanges.count == 1)
    }

    @Test("I8: A body shorter than its announced length is a failure, for its reader, too")
    func truncated() async throws {
        let response = try await stream(byteCount: 9)
        feed.send(8)
        feed.finish()
        let error = await pipelineError { for try await _ in response.body {} }
        #expect(error?.code == .truncated)
        #expect(error?.request?.host == "api.example.com")
        #expect(outcomes.texts == ["failure truncated"])
    }

    @Test("The outcome of a cancelled reader is cancelled")
    func cancelled() async throws {
        let response = try await stream()
        feed.send(5)
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let reading = Task {
            for try await _ in response.body { start.finish() }
            try Task.checkCancellation()
        }
        for await _ in started {}
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        #expect(outcomes.texts == ["cancelled cancelled"])
        #expect(outcomes.all.first?.receivedByteCount == 5)
    }

    @Test("P10 A body released unread is cancelled, even if all of it has arrived")
    func unread() async throws {
        feed.send(5)
        feed.finish()
        var response: StreamedResponse? = try await stream()
        #expect(response?.statusCode == 200)
        #expect(outcomes.count == 0)
        response = nil
        #expect(outcomes.texts == ["cancelled cancelled"])
        #expect(outcomes.all.first?.error?.reason == "the body was released before its end")
        #expect(outcomes.all.first?.receivedByteCount == 0)
    }

    @Test("Leaving the loop ends the call even if the response is kept, and nothing ends it twice")
    func left() async throws {
        let response = try await stream()
        feed.send(3)
        feed.send(4)
        for try await _ in response.body { break }
        #expect(outcomes.texts == ["cancelled cancelled"])
        #expect(outcomes.all.first?.receivedByteCount == 3)
        let error = await pipelineError { for try await _ in response.body {} }
        #expect(error?.code == .bodyConsumed)
        #expect(response.statusCode == 200)
        #expect(outcomes.count == 1)
    }

    @Test("Leaving the loop after all announced bytes is a success, and so is a body announced as empty")
    func whole() async throws {
        let response = try await stream(byteCount: 3)
        feed.send(3)
        for try await _ in response.body { break }
        #expect(outcomes.texts == ["success"])
        _ = try await stream(byteCount: 0)
        #expect(outcomes.texts == ["success", "success"])
    }

    @Test("Streamed values end the call at their end and when decoding fails")
    func values() async throws {
        let lines = try await stream()
        feed.send(3)
        feed.finish()
        for try await _ in lines.lines() {}
        #expect(outcomes.texts == ["success"])

        let step = ScriptedTransport.Step.status(200, body: .stream(AsyncStream<Data> { Data("no\n".utf8) }))
        let provider = Provider<TestTarget>(transport: ScriptedTransport(always: step), plugins: [outcomes])
        let error = await pipelineError {
            for try await _ in try await provider.stream(TestTarget()).jsonLines(as: Int.self) {}
        }
        #expect(error?.code.isKind(of: .mapping) == true)
        #expect(outcomes.texts == ["success", "cancelled cancelled"])
    }

    @Test("A status that is not accepted and a body in memory end the call immediately")
    func atOnce() async throws {
        feed.send(4)
        feed.finish()
        let error = await pipelineError { _ = try await stream(status: 404) }
        #expect(error?.code == .unacceptableStatus)
        #expect(outcomes.texts == ["failure unacceptableStatus"])
        #expect(outcomes.all.first?.receivedByteCount == 4)

        let transport = ScriptedTransport(always: .status(200, body: "hello"))
        let response = try await Provider<TestTarget>(transport: transport, plugins: [outcomes]).stream(TestTarget())
        #expect(outcomes.texts == ["failure unacceptableStatus", "success"])
        #expect(outcomes.all.last?.receivedByteCount == 5)
        #expect(response.statusCode == 200)
    }

    @Test("A replayable body can be read twice and ends the call once")
    func replayable() async throws {
        let make: @Sendable () -> AsyncStream<Data> = {
            AsyncStream { continuation in
                continuation.yield(Data("ab".utf8))
                continuation.finish()
            }
        }
        let transport = ScriptedTransport(always: .status(200, body: .stream(byteCount: 2, replaying: make)))
        let response = try await Provider<TestTarget>(transport: transport, plugins: [outcomes]).stream(TestTarget())
        for _ in 0..<2 {
            var data = Data()
            for try await chunk in response.body { data.append(chunk) }
            #expect(data == Data("ab".utf8))
        }
        #expect(outcomes.texts == ["success"])
    }

    @Test("Without the stage, a stream is returned unchanged")
    func unwrapped() async throws {
        let transport = ScriptedTransport(always: .status(200, body: .stream(feed)))
        let response = try await Provider<TestTarget>(transport: transport).stream(TestTarget())
        feed.send(2)
        feed.finish()
        for try await chunk in response.body { #expect(chunk.count == 2) }
    }

    @Test("Each connection of an event subscription is a call with its own outcome")
    func events() async throws {
        let type: HTTPFields = [.contentType: "text/event-stream"]
        let steps: [ScriptedTransport.Step] = [
            .status(200, headers: type, body: .stream(AsyncStream<Data>(unfolding: { nil }))), .status(204),
        ]
        let clock = ManualClock()
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(steps + [.status(503), .status(200)]),
            plugins: [outcomes],
            configuration: .init(clock: clock)
        )
        let reading = Task { for try await _ in provider.serverSentEvents(TestTarget()) {} }
        try await clock.advanceToNextSleeper()
        try await reading.value
        #expect(outcomes.texts == ["success", "success"])
        #expect(outcomes.all.map(\.statusCode) == [200, 204])
        for _ in 0..<2 {
            let events = provider.serverSentEvents(TestTarget(), reconnection: .never)
            _ = await pipelineError { for try await _ in events {} }
        }
        #expect(outcomes.texts.suffix(2) == ["failure unacceptableStatus", "failure mapping.events"])
    }
}
