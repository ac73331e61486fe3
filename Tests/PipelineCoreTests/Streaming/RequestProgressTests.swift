import Dispatch
import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Progress", .tags(.concurrent), .watched)
struct RequestProgressTests {
    static func provider(_ transport: ScriptedTransport, _ plugins: [any PluginType] = []) -> Provider<TestTarget> {
        Provider(transport: transport, plugins: plugins, configuration: .init(clock: ManualClock()))
    }

    static func values(_ steps: [ProgressResponse]) -> [Double] {
        steps.map { ($0.progress * 1000).rounded() / 1000 }
    }

    /// Reads all steps, and sends the next piece after each.
    static func read(_ progress: RequestProgress, _ feed: Feed, pieces: [Int]) async throws -> [ProgressResponse] {
        var rest = pieces[...]
        var steps: [ProgressResponse] = []
        if let first = rest.popFirst() { feed.send(first) }
        for try await step in progress {
            steps.append(step)
            if let next = rest.popFirst() { feed.send(next) } else { feed.finish() }
        }
        return steps
    }

    @Test("M150 Each piece of the response is a step, and progress is 1 only once, with the response")
    func received() async throws {
        let feed = Feed()
        let transport = ScriptedTransport([.status(200, body: .stream(feed, byteCount: 4000))])
        let progress = Self.provider(transport).requestWithProgress(TestTarget())
        let steps = try await Self.read(progress, feed, pieces: [1000, 1000, 1000, 1000])
        #expect(Self.values(steps) == [0.25, 0.5, 0.75, 0.999, 1])
        #expect(steps.map { $0.progress == 1 } == [false, false, false, false, true])
        #expect(steps.map(\.completed) == [false, false, false, false, true])
        #expect(steps.map(\.received.byteCount) == [1000, 2000, 3000, 4000, 4000])
        #expect(steps.allSatisfy { $0.received.totalByteCount == 4000 })
        #expect(steps.last?.response?.data.count == 4000)
    }

    @Test("M151 Without a length, progress stays 0 until the end, but bytes are counted")
    func unknownLength() async throws {
        let feed = Feed()
        let transport = ScriptedTransport([.status(200, body: .stream(feed))])
        let progress = Self.provider(transport).requestWithProgress(TestTarget())
        let steps = try await Self.read(progress, feed, pieces: [10, 20, 30])
        #expect(steps.map(\.progress) == [0, 0, 0, 1])
        #expect(steps.map(\.received.byteCount) == [10, 30, 60, 60])
        #expect(steps.allSatisfy { $0.received.totalByteCount == nil })
    }

    @Test("M152 The progress of an upload is the share of bytes sent; response bytes are only counted")
    func sent() async throws {
        let feed = Feed()
        let transport = ScriptedTransport { _, _ in
            .answer { request, context in
                for try await chunk in feed {
                    context.report(.sent(chunk.count))
                }
                return PipelineResponse(
                    request: request,
                    head: HTTPResponse(status: .ok),
                    body: .stream(byteCount: 2) { AsyncStream(unfolding: once(Data(count: 2))) }
                )
            }
        }
        let target = TestTarget(method: .post, task: .requestStream(.bytes(Data(count: 80))))
        let progress = Self.provider(transport).requestWithProgress(target)
        var pieces = [20, 40, 40, 30, 80][...]
        var steps: [ProgressResponse] = []
        feed.send(20)
        pieces.removeFirst()
        for try await step in progress {
            steps.append(step)
            // The second 40 and the 30 do not make a step because the count does not grow.
            switch step.sent.byteCount {
            case 20: feed.send(40)
            case 40:
                feed.send(40)
                feed.send(30)
                feed.send(80)
            default: feed.finish()
            }
        }
        #expect(Self.values(Array(steps.prefix(3))) == [0.25, 0.5, 0.999])
        #expect(steps.dropLast().allSatisfy { $0.progress < 1 })
        #expect(steps.last?.progress == 1)
        #expect(steps.last?.sent == .init(byteCount: 80, totalByteCount: 80))
        #expect(steps.last?.received.byteCount == 2)
        #expect(steps.allSatisfy { $0.transfer == $0.sent })
    }

    /// Reads all steps of a body that arrives in pieces of 1,000 bytes, one each second on the provider's clock.
    private func timedSteps(of byteCount: Int?, pieceCount: Int) async throws -> [ProgressResponse] {
        let feed = Feed()
        let clock = ManualClock()
        let transport = ScriptedTransport([.status(200, body: .stream(feed, byteCount: byteCount))])
        var steps: [ProgressResponse] = []
        feed.send(1000)
        for try await step in Provider<TestTarget>(transport: transport, configuration: .init(clock: clock))
            .requestWithProgress(TestTarget())
        {
            steps.append(step)
            clock.advance(by: .seconds(1))
            if steps.count < pieceCount { feed.send(1000) } else { feed.finish() }
        }
        return steps
    }

    @Test("Speed and time left use the provider's clock and begin with the second step")
    func speed() async throws {
        let steps = try await timedSteps(of: 4000, pieceCount: 4)
        #expect(steps.map(\.bytesPerSecond) == [nil, 1000, 1000, 1000, 1000])
        #expect(steps.map(\.timeLeft) == [nil, .seconds(2), .seconds(1), .zero, .zero])
        #expect(steps.allSatisfy { $0.transfer == $0.received })
    }

    @Test("Without a length, steps have a speed but no time left")
    func speedWithoutLength() async throws {
        let steps = try await timedSteps(of: nil, pieceCount: 3)
        #expect(steps.map(\.bytesPerSecond) == [nil, 1000, 1000, 1000])
        #expect(steps.allSatisfy { $0.timeLeft == nil })
    }

    @Test("A second attempt restarts the byte count, but progress never decreases")
    func monotonic() async throws {
        let feed = Feed()
        let again = Feed()
        let transport = ScriptedTransport([
            .status(503, body: .stream(feed, byteCount: 100)), .status(200, body: .stream(again, byteCount: 100)),
        ])
        let retry = PluginStack.intercept { request, _, next in
            do { return try await next(request) } catch { return try await next(request) }
        }
        var steps: [ProgressResponse] = []
        feed.send(60)
        for try await step in Self.provider(transport, [retry]).requestWithProgress(TestTarget()) {
            steps.append(step)
            switch steps.count {
            case 1:
                feed.finish()
                again.send(10)
            case 2: again.send(70)
            case 3: again.send(20)
            default: again.finish()
            }
        }
        #expect(Self.values(steps) == [0.6, 0.6, 0.8, 0.999, 1])
        #expect(steps.map(\.received.byteCount) == [60, 10, 80, 100, 100])
    }

    @Test("A second attempt restarts the counts of sent and received bytes")
    func secondAttempt() async throws {
        let transport = ScriptedTransport { _, index in
            .answer { request, context in
                context.report(.sent(index == 0 ? 80 : 20))
                guard index == 0 else { return PipelineResponse(request: request, statusCode: 204) }
                let head = HTTPResponse(status: .ok)
                let body = PipelineBody.stream(byteCount: 100) { AsyncStream(unfolding: once(Data(count: 60))) }
                return PipelineResponse(request: request, head: head, body: body)
            }
        }
        let retry = PluginStack.intercept { request, _, next in
            do { return try await next(request) } catch { return try await next(request) }
        }
        let target = TestTarget(method: .post, task: .requestStream(.bytes(Data(count: 80))))
        var last: ProgressResponse?
        for try await step in Self.provider(transport, [retry]).requestWithProgress(target) { last = step }
        #expect(transport.sent.count == 2)
        #expect(last?.sent == .init(byteCount: 20, totalByteCount: 80))
        #expect(last?.received == .init())
    }

    @Test("M152 The progress of a form upload is the share of bytes sent")
    func form() async throws {
        let feed = Feed()
        let transport = ScriptedTransport { _, _ in
            .answer { request, context in
                context.report(.sent((request.body.byteCount ?? 0) / 2))
                for try await _ in feed {}
                return PipelineResponse(request: request, statusCode: 204)
            }
        }
        let form = MultipartFormData(parts: [.field("a", "1")])
        let target = TestTarget(method: .post, task: .uploadMultipartFormData(form))
        var steps: [ProgressResponse] = []
        for try await step in Self.provider(transport).requestWithProgress(target) {
            steps.append(step)
            feed.finish()
        }
        #expect(steps.map(\.completed) == [false, true])
        #expect(abs((steps.first?.progress ?? 0) - 0.5) < 0.01)
    }

    @Test("A response whose body is already in memory is a single step")
    func whole() async throws {
        let transport = ScriptedTransport([.status(200, body: "hello")])
        var steps: [ProgressResponse] = []
        for try await step in Self.provider(transport).requestWithProgress(TestTarget()) { steps.append(step) }
        #expect(steps.map(\.progress) == [1])
        #expect(steps.first?.response?.data == Data("hello".utf8))
    }

    @Test("Nothing is sent before the steps are read, and each loop sends a new request")
    func cold() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let progress = Self.provider(transport).requestWithProgress(TestTarget())
        #expect(transport.sent.isEmpty)
        for _ in 0..<2 {
            for try await _ in progress {}
        }
        #expect(transport.sent.count == 2)
    }

    @Test("A failed call throws its error and never reaches 1")
    func failure() async throws {
        let feed = Feed()
        let transport = ScriptedTransport([.status(200, body: .stream(feed, byteCount: 100))])
        var steps: [ProgressResponse] = []
        feed.send(30)
        let error = await pipelineError {
            for try await step in Self.provider(transport).requestWithProgress(TestTarget()) {
                steps.append(step)
                feed.finish(throwing: PipelineError(.connectionLost, "by script"))
            }
        }
        #expect(error?.code == .connectionLost)
        #expect(Self.values(steps) == [0.3])
    }

    @Test("A status that the target does not accept is thrown, without a final step")
    func unacceptable() async throws {
        let transport = ScriptedTransport([.status(404, body: "no")])
        var count = 0
        let error = await pipelineError {
            let target = TestTarget(validationType: .successCodes)
            for try await _ in Self.provider(transport).requestWithProgress(target) { count += 1 }
        }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.data == Data("no".utf8))
        #expect(count == 0)
    }

    @Test("Rule 6 Leaving the loop cancels the call")
    func leaving() async throws {
        let feed = Feed()
        let ended = Feed()
        let journal = Journal()
        let transport = ScriptedTransport([.status(200, body: .stream(feed, byteCount: 100))])
        let watch = PluginStack.process { result, _ in
            if case .failure(let error) = result { journal.add("\(error.code)") }
            ended.finish()
        }
        feed.send(10)
        for try await _ in Self.provider(transport, [watch]).requestWithProgress(TestTarget()) { break }
        for try await _ in ended {}
        #expect(journal.entries == ["cancelled"])
    }

    @Test("Rule 6 A cancelled reader gets CancellationError")
    func cancelled() async throws {
        let transport = ScriptedTransport(always: .hang)
        let progress = Self.provider(transport).requestWithProgress(TestTarget())
        let reader = Task {
            for try await _ in progress {}
        }
        await eventually { !transport.sent.isEmpty }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
    }

    @Test("A cancelled reader gets its error after the call has ended")
    func cancelledAfterEnd() async throws {
        let journal = Journal()
        let transport = ScriptedTransport(always: .hang)
        let tidy = PluginStack.intercept { request, _, next in
            do {
                return try await next(request)
            } catch {
                for _ in 0..<1000 { await Task.yield() }
                journal.add("the call has ended")
                throw error
            }
        }
        let progress = Self.provider(transport, [tidy]).requestWithProgress(TestTarget())
        let reader = Task {
            for try await _ in progress {}
        }
        await eventually { !transport.sent.isEmpty }
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
        #expect(journal.entries == ["the call has ended"])
    }

    @Test("A slow reader may miss steps, but never the last one")
    func slowReader() async throws {
        let feed = Feed()
        let transport = ScriptedTransport([.status(200, body: .stream(feed, byteCount: 1000))])
        let journal = Journal()
        let end = PluginStack.process { _, _ in journal.add("end") }
        for _ in 0..<100 { feed.send(10) }
        feed.finish()
        var steps: [ProgressResponse] = []
        for try await step in Self.provider(transport, [end]).requestWithProgress(TestTarget()) {
            await eventually { !journal.entries.isEmpty }
            steps.append(step)
        }
        #expect(steps.count <= 3)
        #expect(steps.last?.completed == true)
        #expect(steps.last?.received.byteCount == 1000)
    }

    @Test("A transport streams only for progress, streams and downloads")
    func wantsStream() async throws {
        let journal = Journal()
        let transport = ScriptedTransport { _, _ in
            .answer { request, context in
                journal.add("\(context.wantsStream) \(context.isStreaming)")
                return PipelineResponse(request: request, statusCode: 204)
            }
        }
        let provider = Self.provider(transport)
        _ = try await provider.request(TestTarget())
        _ = try await provider.stream(TestTarget())
        for try await _ in provider.requestWithProgress(TestTarget()) {}
        let file = URL(filePath: "/nowhere/file")
        _ = try await provider.request(TestTarget(task: .downloadDestination(.file(file))))
        #expect(journal.entries == ["false false", "true true", "true false", "true false"])
    }

    @Test("No step follows an error")
    func afterError() async throws {
        var steps = Self.provider(ScriptedTransport([.failure(.dns)])).requestWithProgress(TestTarget())
            .makeAsyncIterator()
        await #expect(throws: PipelineError.self) { try await steps.next() }
        #expect(try await steps.next() == nil)
    }
}

/// Returns a closure that returns the bytes once, and then `nil`.
func once(_ data: Data) -> @Sendable () async -> Data? {
    let rest = Rest(data)
    return { rest.take() }
}

private final class Rest: Sendable {
    private let data: Mutex<Data?>

    init(_ data: Data) { self.data = Mutex(data) }

    func take() -> Data? { data.withLock { $0.take() } }
}
