import Foundation
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import PipelineTesting

/// Rule 15: one function discards bodies, with a byte limit and a time limit.
@Suite("Discarded bodies", .tags(.concurrent), .watched)
struct PipelineResponseDiscardingTests {
    /// A body that stalls after a number of bytes.
    private final class Stalling: Sendable {
        private let closed = Atomic(false)
        private let reading = AsyncStream.makeStream(of: Void.self)

        var isClosed: Bool { closed.load(ordering: .acquiring) }

        func body(_ count: Int = 1, byteCount: Int? = nil) -> PipelineBody {
            let (bytes, continuation) = AsyncStream<Data>.makeStream()
            continuation.onTermination = { _ in self.closed.store(true, ordering: .releasing) }
            for _ in 0..<count { continuation.yield(Data("x".utf8)) }
            let chunks = bytes.map { chunk in
                self.reading.continuation.finish()
                return chunk
            }
            return .stream(chunks, byteCount: byteCount)
        }

        func waitForReader() async { for await _ in reading.stream {} }
    }

    /// Records the body that `didReceive` sees.
    private static func seen(in journal: Journal) -> any PluginType {
        .didReceive { result, _ in
            guard case .success(let response) = result else { return journal.add("failure") }
            let text = response.body.bytes.map { String(decoding: $0, as: UTF8.self) }
            journal.add("\(response.statusCode) \(response.body.isAbsent ? "none" : text ?? "unread")")
        }
    }

    /// Makes the body when it is sent, so that the script does not keep it open.
    private static func redirect(_ makeBody: @autoclosure @escaping @Sendable () -> PipelineBody) -> ScriptedTransport {
        ScriptedTransport { _, index in
            guard index == 0 else { return .status(200, body: "there") }
            return .status(302, headers: [.location: "/next"], body: makeBody())
        }
    }

    /// Advances the clock by the time after which the body is to be closed, as soon as the next sleeper waits for it.
    ///
    /// The number of sleepers says less: other limits of the call may begin and end to sleep meanwhile.
    private static func pass(_ time: Duration, of clock: ManualClock) async {
        await eventually { clock.timeToNextSleeper == time }
        clock.advance(by: time)
    }

    @Test("R09 A redirect whose body stalls is followed after a second, and its exchange is closed")
    func stall() async throws {
        let clock = ManualClock()
        let stalling = Stalling()
        let journal = Journal()
        let provider = Provider<TestTarget>(
            transport: Self.redirect(stalling.body()),
            plugins: [Self.seen(in: journal)],
            configuration: .init(clock: clock)
        )
        let call = Task { try await provider.request(TestTarget()) }
        await Self.pass(.seconds(1), of: clock)
        let response = try await call.value
        #expect(try response.mapString() == "there")
        #expect(response.exchanges.map(\.statusCode) == [302, 200])
        await eventually { stalling.isClosed }
        #expect(journal.entries == ["302 none", "200 there"])
    }

    @Test("R09 A redirect whose body stalls is followed, even if the time of the attempt is up")
    func attempt() async throws {
        let clock = ManualClock()
        let stalling = Stalling()
        let provider = Provider<TestTarget>(
            transport: Self.redirect(stalling.body()),
            configuration: .init(clock: clock)
        )
        let options = RequestOptions { $0.attemptTimeout = .milliseconds(500) }
        let call = Task { try await provider.request(TestTarget(), options: options).statusCode }
        await stalling.waitForReader()
        await Self.pass(.milliseconds(500), of: clock)
        #expect(try await call.value == 200)
        await eventually { stalling.isClosed }
    }

    @Test("R09 A redirect whose body stalls is followed after a second, whatever the idle timeout")
    func idle() async throws {
        let clock = ManualClock()
        let stalling = Stalling()
        let provider = Provider<TestTarget>(
            transport: Self.redirect(stalling.body()),
            configuration: .init(clock: clock)
        )
        let options = RequestOptions { $0.idleTimeout = .seconds(60) }
        let call = Task { try await provider.request(TestTarget(), options: options).statusCode }
        await Self.pass(.seconds(1), of: clock)
        #expect(try await call.value == 200)
        await eventually { stalling.isClosed }
    }

    @Test("The provider's limits set the time, and zero closes the body unread", arguments: [0, 3])
    func duration(_ seconds: Int) async throws {
        let clock = ManualClock()
        let stalling = Stalling()
        let provider = Provider<TestTarget>(
            transport: Self.redirect(stalling.body()),
            configuration: .init(
                limits: ProviderConfiguration.Limits(discardedBodyDuration: .seconds(seconds)),
                clock: clock
            )
        )
        let call = Task { try await provider.request(TestTarget()).statusCode }
        if seconds > 0 { await Self.pass(.seconds(seconds), of: clock) }
        #expect(try await call.value == 200)
        await eventually { stalling.isClosed }
    }

    @Test("R10 A redirect that announces more than the limit is followed immediately, and its exchange is closed")
    func announced() async throws {
        let stalling = Stalling()
        let provider = Provider<TestTarget>(
            transport: Self.redirect(stalling.body(byteCount: 101 << 20)),
            configuration: .init(clock: ManualClock())
        )
        #expect(try await provider.request(TestTarget()).statusCode == 200)
        await eventually { stalling.isClosed }
    }

    @Test("didReceive sees the body of a redirect if it is short, or otherwise none", arguments: [3, 4])
    func observed(limit: Int) async throws {
        let journal = Journal()
        let body = PipelineBody.stream(AsyncStream(unfolding: once(Data("body".utf8))))
        let provider = Provider<TestTarget>(
            transport: Self.redirect(body),
            plugins: [Self.seen(in: journal)],
            configuration: .init(
                limits: ProviderConfiguration.Limits(discardedBodyByteCount: limit),
                clock: ManualClock()
            )
        )
        _ = try await provider.request(TestTarget())
        #expect(journal.entries == ["302 \(limit < 4 ? "none" : "body")", "200 there"])
    }

    @Test("R10 A redirect whose body fails or is truncated is followed", arguments: [true, false])
    func broken(isCut: Bool) async throws {
        let chunks = AsyncThrowingStream<Data, any Error> { continuation in
            continuation.yield(Data("x".utf8))
            continuation.finish(throwing: isCut ? nil : PipelineError(.limit(.bodyBytes), "by script"))
        }
        let provider = Provider<TestTarget>(transport: Self.redirect(.stream(chunks, byteCount: 10)))
        #expect(try await provider.request(TestTarget()).statusCode == 200)
    }

    @Test("A download that restarts waits at most a second for the body of the 416")
    func restartedDownload() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock()
        let stalling = Stalling()
        let headers: HTTPFields = [.eTag: "\"v1\""]
        let cut = PipelineBody.stream(AsyncStream(unfolding: once(Data("0123".utf8))), byteCount: 10)
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport([
                .status(200, headers: headers, body: cut), .status(416, body: stalling.body()),
                .status(200, body: "0123456789"),
            ]),
            configuration: .init(clock: clock)
        )
        let destination = DownloadDestination.file(folder.file("done")).resumable(at: folder.file("part"))
        let target = TestTarget(task: .downloadDestination(destination))
        _ = await pipelineError { _ = try await provider.request(target) }
        let call = Task { try await provider.request(target).exchanges.map(\.statusCode) }
        await Self.pass(.seconds(1), of: clock)
        #expect(try await call.value == [416, 200])
        await eventually { stalling.isClosed }
        #expect(folder.text(of: "done") == "0123456789")
    }

    @Test("A call cancelled while a body is discarded ends immediately")
    func cancelled() async throws {
        let stalling = Stalling()
        let transport = Self.redirect(stalling.body())
        let provider = Provider<TestTarget>(transport: transport, configuration: .init(clock: ManualClock()))
        let call = Task { try await provider.request(TestTarget()) }
        await stalling.waitForReader()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        await eventually { stalling.isClosed }
        #expect(transport.sent.count == 1)
    }

    // MARK: In plugins

    /// Discards the body of the first response with the closure, and records the body that remains.
    private static func plugin(
        _ journal: Journal,
        _ discard: @escaping @Sendable (inout PipelineResponse, PipelineContext) async -> Void
    ) -> any PluginType {
        .intercept { request, context, next in
            var response = try await next(request)
            await discard(&response, context)
            journal.add(response.body.isAbsent ? "none" : String(decoding: response.data, as: UTF8.self))
            return try await next(request)
        }
    }

    @Test("A plugin may shorten the time, but not extend it", arguments: [(200, 200), (5_000, 1_000)])
    func within(milliseconds: (given: Int, used: Int)) async throws {
        let clock = ManualClock()
        let journal = Journal()
        let stalling = Stalling()
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport([.status(503, body: stalling.body()), .status(200)]),
            plugins: [Self.plugin(journal) { await $0.discardBody($1, within: .milliseconds(milliseconds.given)) }],
            configuration: .init(clock: clock)
        )
        let call = Task { try await provider.stream(TestTarget()).statusCode }
        await Self.pass(.milliseconds(milliseconds.used), of: clock)
        #expect(try await call.value == 200)
        await eventually { stalling.isClosed }
        #expect(journal.entries == ["none"])
    }

    @Test("A body in memory is kept, and a stream that ends is in memory afterwards")
    func kept() async throws {
        let journal = Journal()
        let long = String(repeating: "x", count: 100)
        let stream = PipelineBody.stream(AsyncStream(unfolding: once(Data("short".utf8))))
        for body in [PipelineBody.bytes(Data(long.utf8)), stream] {
            let provider = Provider<TestTarget>(
                transport: ScriptedTransport([.status(503, body: body), .status(200)]),
                plugins: [Self.plugin(journal) { await $0.discardBody($1) }],
                configuration: .init(
                    limits: ProviderConfiguration.Limits(discardedBodyByteCount: 10),
                    clock: ManualClock()
                )
            )
            _ = try await provider.stream(TestTarget())
        }
        #expect(journal.entries == [long, "short"])
    }
}
