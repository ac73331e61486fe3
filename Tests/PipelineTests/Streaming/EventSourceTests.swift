import Foundation
import HTTPTypes
import PipelineTesting
import Synchronization
import Testing

@testable import Pipeline

@Suite("A subscription to events", .timeLimit(.minutes(10)))
struct EventSourceTests {
    private let clock = ManualClock()

    private typealias Step = ScriptedTransport.Step

    private static func stream(_ text: String) -> Step {
        .status(200, headers: [.contentType: "text/event-stream"], body: text)
    }

    private static func stream(_ feed: WatchedFeed) -> Step {
        .status(200, headers: [.contentType: "text/event-stream"], body: .stream(feed))
    }

    private static let end = Step.status(204)

    /// What came of a subscription.
    private struct Outcome: Sendable {
        var events: [ServerSentEvent] = []
        var waits: [Duration] = []
        var error: PipelineError?

        var data: [String] { events.map(\.data) }
    }

    /// Reads to the end, and moves the clock whenever somebody waits for it, after the first so many events.
    private func outcome(of events: StreamedValues<ServerSentEvent>, movingAfter count: Int = 0) async -> Outcome {
        let isDone = Atomic(false)
        let readCount = Atomic(0)
        let reading = Task {
            defer { isDone.store(true, ordering: .releasing) }
            var outcome = Outcome()
            outcome.error = await pipelineError {
                for try await event in events {
                    outcome.events.append(event)
                    readCount.add(1, ordering: .releasing)
                }
            }
            return outcome
        }
        var waits: [Duration] = []
        while !isDone.load(ordering: .acquiring) {
            let before = clock.now
            if readCount.load(ordering: .acquiring) >= count, clock.advanceIfAnyoneSleeps() {
                waits.append(before.duration(to: clock.now))
            }
            await Task.yield()
        }
        var outcome = await reading.value
        outcome.waits = waits
        return outcome
    }

    private func outcome(
        of steps: [Step],
        target: TestTarget = TestTarget(),
        lastEventID: String = "",
        reconnection: ReconnectionPolicy = .standard,
        maximumByteCount: Int = 1 << 20,
        movingAfter count: Int = 0
    ) async -> (Outcome, [PipelineRequest]) {
        let transport = ScriptedTransport(steps)
        let provider = Provider<TestTarget>(transport: transport, clock: clock, random: .seeded(1))
        let events = provider.serverSentEvents(
            target,
            lastEventID: lastEventID,
            reconnection: reconnection,
            maximumByteCount: maximumByteCount
        )
        return (await outcome(of: events, movingAfter: count), transport.sent)
    }

    private func lastEventIDs(_ requests: [PipelineRequest]) -> [String?] {
        requests.map { $0.headers[HTTPField.Name("Last-Event-ID") ?? .accept] }
    }

    @Test("It says what it wants where the target says nothing else")
    func request() async {
        var (_, sent) = await outcome(of: [Self.end])
        #expect(sent.map { $0.headers[.accept] } == ["text/event-stream"])
        #expect(sent.map { $0.headers[.cacheControl] } == ["no-store"])
        #expect(lastEventIDs(sent) == [nil])
        let target = TestTarget(headers: ["Accept": "a/b", "Cache-Control": "no-cache", "Last-Event-ID": "t"])
        (_, sent) = await outcome(of: [Self.stream("data: 1\n\n"), Self.stream("id: 2\n\n"), Self.end], target: target)
        #expect(sent.map { $0.headers[.accept] } == ["a/b", "a/b", "a/b"])
        #expect(sent.map { $0.headers[.cacheControl] } == ["no-cache", "no-cache", "no-cache"])
        #expect(lastEventIDs(sent) == ["t", "t", "2"])
    }

    @Test("After the end of a stream it waits 3 s, or what the server said from then on, and goes on from the last ID")
    func reconnecting() async {
        let (outcome, sent) = await outcome(of: [
            Self.stream("data: 1\nid: a\n\ndata: 2\n\ndata: half\nid: lost"),
            Self.stream("retry: 250\nid: b\n\n"),
            Self.stream("data: 3\n\n"),
            Self.stream("id\ndata: 4\n\n"),
            Self.end,
        ])
        #expect(outcome.data == ["1", "2", "3", "4"])
        #expect(outcome.events.map(\.id) == ["a", "a", "b", ""])
        #expect(outcome.waits == [.seconds(3), .milliseconds(250), .milliseconds(250), .milliseconds(250)])
        #expect(outcome.error == nil)
        #expect(lastEventIDs(sent) == [nil, "a", "b", "b", nil])
    }

    @Test("It goes on from the ID that it is given, without blanks around it")
    func givenID() async {
        let (outcome, sent) = await outcome(of: [Self.stream("data: 1\n\n"), Self.end], lastEventID: " é 7\t")
        #expect(outcome.events.map(\.id) == [" é 7\t"])
        #expect(lastEventIDs(sent) == ["é 7", "é 7"])
    }

    @Test("Status 204 is the end, also for a target that does not accept it")
    func noContent() async {
        for validationType in [ValidationType.none, .customCodes([200])] {
            let (outcome, sent) = await outcome(of: [Self.end], target: TestTarget(validationType: validationType))
            #expect(outcome.error == nil)
            #expect(sent.count == 1)
        }
    }

    @Test(
        "Any other status is an error with the body, and ends the events",
        arguments: [201, 206, 301, 401, 404, 500, 503]
    )
    func status(_ code: Int) async {
        for validationType in [ValidationType.none, .successCodes] {
            let (outcome, sent) = await outcome(
                of: [Self.stream("data: 1\n\n"), .status(code, body: "no"), Self.end],
                target: TestTarget(validationType: validationType)
            )
            #expect(outcome.data == ["1"])
            #expect(outcome.error?.code == .unacceptableStatus)
            #expect(outcome.error?.response?.statusCode == code)
            #expect(outcome.error?.response?.data == Data("no".utf8))
            #expect(sent.count == 2)
        }
    }

    @Test("Another Content-Type is an error, and ends the events")
    func type() async {
        let feed = WatchedFeed(["data: 1\n\n"])
        let html = Step.status(200, headers: [.contentType: "text/html"], body: .stream(feed))
        let (outcome, sent) = await outcome(of: [html, Self.end])
        #expect(outcome.error?.code == .mapping(.events))
        #expect(outcome.data.isEmpty)
        #expect(sent.count == 1)
    }

    @Test("Events that came before a stream broke are given first, and the next stream goes on after them")
    func broken() async {
        let feed = WatchedFeed(
            ["id: 1\ndata: 1\n\nid: 2\nda", "ta: 2\n\nid: 3\ndata"],
            failure: PipelineError(.connectionLost, "")
        )
        let (outcome, sent) = await outcome(of: [Self.stream(feed), Self.end])
        #expect(outcome.data == ["1", "2"])
        #expect(outcome.waits == [.seconds(3)])
        #expect(lastEventIDs(sent) == [nil, "2"])
        #expect(feed.isDropped)
    }

    @Test("Waits grow while attempts fail, by a chance that repeats, and a stream that begins ends the count")
    func growth() async {
        let failing = Array(repeating: Step.failure(.connect(.refused)), count: 4)
        let steps = failing + [Self.stream("data: 1\n\n")] + failing + [Self.end]
        let (first, _) = await outcome(of: steps)
        let (second, sent) = await outcome(of: steps)
        #expect(first.data == ["1"])
        #expect(first.error == nil)
        #expect(first.waits == second.waits)
        #expect(sent.count == 10)
        for waits in [first.waits.prefix(4), first.waits.suffix(4)] {
            for (wait, bound) in zip(waits, [6, 12, 24, 48]) { #expect(wait >= .seconds(3) && wait <= .seconds(bound)) }
            #expect((waits.max() ?? .zero) > .seconds(6))
        }
        #expect(first.waits[4] == .seconds(3))
    }

    @Test("An answer without a byte is no failure, and is followed by a wait of 1 s at least")
    func emptyStreams() async {
        let steps = [Self.stream("retry: 0\n")] + Array(repeating: Self.stream(""), count: 20) + [Self.end]
        let (outcome, _) = await outcome(of: steps, reconnection: ReconnectionPolicy(maximumFailedAttempts: 1))
        #expect(outcome.error == nil)
        #expect(outcome.waits.count == 20)
        #expect(outcome.waits.allSatisfy { $0 == .seconds(1) })
    }

    @Test("When too many attempts in a row have failed, the error of the last is thrown", arguments: [1, 3, 10])
    func maximum(_ maximum: Int) async {
        let failing = Array(repeating: Step.failure(.connectionLost), count: maximum - 1)
        let steps = [Self.stream("data: 1\n\n")] + failing + [.failure(.dns), Self.end]
        let policy = maximum == 10 ? .standard : ReconnectionPolicy(maximumFailedAttempts: maximum)
        let (outcome, sent) = await outcome(of: steps, reconnection: policy)
        #expect(outcome.error?.code == .dns)
        #expect(sent.count == maximum + 1)
    }

    @Test("Without a maximum it goes on")
    func noMaximum() async {
        let steps = Array(repeating: Step.failure(.offline), count: 50) + [Self.end]
        let (outcome, sent) = await outcome(of: steps, reconnection: ReconnectionPolicy(maximumFailedAttempts: nil))
        #expect(outcome.error == nil)
        #expect(sent.count == 51)
    }

    @Test("With .never the events end with the stream, and a failure is thrown at once")
    func never() async {
        var (outcome, sent) = await outcome(of: [Self.stream("data: 1\n\n"), Self.end], reconnection: .never)
        #expect(outcome.data == ["1"])
        #expect(outcome.error == nil)
        #expect(sent.count == 1)
        (outcome, sent) = await self.outcome(of: [.failure(.connectionLost), Self.end], reconnection: .never)
        #expect(outcome.error?.code == .connectionLost)
        #expect(sent.count == 1)
    }

    @Test("A policy may reconnect after what it likes, and a failure that is none of the network ends the events")
    func chosen() async {
        let policy = ReconnectionPolicy { $0.response?.statusCode == 503 }
        let steps = [Step.status(503), Self.stream("data: 1\n\n"), .failure(.connectionLost)]
        let (outcome, sent) = await outcome(of: steps, reconnection: policy)
        #expect(outcome.data == ["1"])
        #expect(outcome.error?.code == .connectionLost)
        #expect(sent.count == 3)
        let (strict, _) = await self.outcome(of: [.failure(.tls(.certificate)), Self.end])
        #expect(strict.error?.code == .tls(.certificate))
    }

    @Test("An event that is longer than allowed ends the events, and closes the exchange")
    func limit() async {
        let feed = WatchedFeed(["data: 1\n\ndata: 123\ndata: 12345\n\n"], hangs: true)
        let (outcome, sent) = await outcome(of: [Self.stream(feed), Self.end], maximumByteCount: 11 - 3)
        #expect(outcome.data == ["1"])
        #expect(outcome.error?.code == .limit(.lineBytes))
        #expect(feed.isDropped)
        #expect(sent.count == 1)
    }

    @Test("Q01: An ID that no header field can hold is invalidRequest.headerValue, and is not sent")
    func unsendableID() async {
        let (outcome, sent) = await outcome(of: [Self.stream("id: a\u{1}b\ndata: 1\n\n"), Self.end])
        #expect(outcome.data == ["1"])
        #expect(outcome.error?.code == .invalidRequest(.headerValue))
        #expect(sent.count == 1)
    }

    @Test("Each connection runs the whole stack, so each has a token of its own")
    func plugins() async {
        let count = Atomic(0)
        let token = PreparePlugin.prepare { request, _ in
            request.headers[.authorization] = "Bearer \(count.add(1, ordering: .relaxed).newValue)"
        }
        let transport = ScriptedTransport([Self.stream("data: 1\n\n"), .failure(.connectionLost), Self.end])
        let provider = Provider<MultiTarget>(transport: transport, plugins: [token], clock: clock)
        let outcome = await outcome(of: provider.serverSentEvents(TestTarget()))
        #expect(outcome.data == ["1"])
        #expect(transport.sent.map { $0.headers[.authorization] } == ["Bearer 1", "Bearer 2", "Bearer 3"])
    }

    @Test("Nothing is sent before the first event is asked for, and each reading subscribes by itself")
    func laziness() async throws {
        let transport = ScriptedTransport(always: Self.stream("id: 1\ndata: 1\n\n"))
        let events = Provider<TestTarget>(transport: transport, clock: clock).serverSentEvents(TestTarget())
        _ = events.makeAsyncIterator()
        #expect(transport.sent.isEmpty)
        for _ in 0..<2 {
            for try await event in events {
                #expect(event.data == "1")
                break
            }
        }
        #expect(transport.sent.count == 2)
        #expect(lastEventIDs(transport.sent) == [nil, nil])
    }

    @Test("Leaving the loop closes the exchange")
    func leaving() async throws {
        let feed = WatchedFeed(["data: 1\n\n"], hangs: true)
        let provider = Provider<TestTarget>(transport: ScriptedTransport([Self.stream(feed)]), clock: clock)
        for try await _ in provider.serverSentEvents(TestTarget()) { break }
        #expect(feed.isDropped)
    }

    @Test(
        "P06: A cancelled reader gets CancellationError at once: while it waits to reconnect, for an answer, for an event"
    )
    func cancellation() async throws {
        let feed = WatchedFeed(["data: 1\n\n"], hangs: true)
        for (step, isAsleep) in [(Self.stream("data: 1\n\n"), true), (Step.hang, false), (Self.stream(feed), false)] {
            let transport = ScriptedTransport([step, Self.end])
            let provider = Provider<TestTarget>(transport: transport, clock: clock)
            let events = provider.serverSentEvents(TestTarget())
            let reading = Task { for try await _ in events {} }
            if isAsleep { await clock.waitForSleepers() }
            while transport.sent.isEmpty { await Task.yield() }
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
            #expect(clock.sleeperCount == 0)
            #expect(transport.sent.count == 1)
        }
        #expect(feed.isDropped)
    }

    @Test("A stream that goes silent is given up after the idle timeout, and connected to again")
    func idle() async {
        let feed = WatchedFeed(["id: 1\ndata: 1\n\n"], hangs: true)
        var target = TestTarget()
        target.options.idleTimeout = .seconds(45)
        // The timeout runs while the first piece is read, too.
        let (outcome, sent) = await outcome(of: [Self.stream(feed), Self.end], target: target, movingAfter: 1)
        #expect(outcome.data == ["1"])
        #expect(outcome.error == nil)
        #expect(outcome.waits.suffix(2) == [.seconds(45), .seconds(3)])
        #expect(lastEventIDs(sent) == [nil, "1"])
    }
}
