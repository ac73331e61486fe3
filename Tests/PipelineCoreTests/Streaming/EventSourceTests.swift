import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Event subscriptions: reconnection and end", .tags(.concurrent), .watched)
struct EventSourceTests {
    private let bench = SubscriptionBench()

    private typealias Step = ScriptedTransport.Step

    @Test(
        "After a stream with an event, it waits 3 s or as the server requested, and resumes from the last ID"
    )
    func reconnecting() async {
        let (outcome, sent) = await bench.outcome(of: [
            .events("data: 1\nid: a\n\ndata: 2\n\ndata: half\nid: lost"),
            .events("retry: 2000\nid: b\n\n"),
            .events("data: 3\n\n"),
            .events("id\ndata: 4\n\n"),
            .end,
        ])
        #expect(outcome.data == ["1", "2", "3", "4"])
        #expect(outcome.events.map(\.id) == ["a", "a", "b", ""])
        #expect(outcome.waits.count == 4)
        #expect(outcome.waits.first == .seconds(3))
        #expect(outcome.waits.suffix(2) == [.seconds(2), .seconds(2)])
        #expect(outcome.error == nil)
        #expect(bench.lastEventIDs(sent) == [nil, "a", "b", "b", nil])
    }

    @Test("Status 204 ends the events, even if the target does not accept it")
    func noContent() async {
        for validationType in [ValidationType.anyStatus, .customCodes([200])] {
            let (outcome, sent) = await bench.outcome(of: [.end], target: TestTarget(validationType: validationType))
            #expect(outcome.error == nil)
            #expect(sent.count == 1)
        }
    }

    @Test(
        "Any other status ends the events with an error that has the body",
        arguments: [201, 206, 301, 401, 404, 500, 503]
    )
    func status(_ code: Int) async {
        for validationType in [ValidationType.anyStatus, .successCodes] {
            let (outcome, sent) = await bench.outcome(
                of: [.events("data: 1\n\n"), .status(code, body: "no"), .end],
                target: TestTarget(validationType: validationType)
            )
            #expect(outcome.data == ["1"])
            #expect(outcome.error?.code == .unacceptableStatus)
            #expect(outcome.error?.response?.statusCode == code)
            #expect(outcome.error?.response?.data == Data("no".utf8))
            #expect(sent.count == 2)
        }
    }

    @Test(
        "Each connection follows redirects; a redirect to itself is an error",
        arguments: [301, 307]
    )
    func redirect(_ code: Int) async {
        let redirect = Step.status(code, headers: [.location: "/elsewhere"])
        let (outcome, sent) = await bench.outcome(of: [redirect, .events("data: 1\n\n"), redirect, .end])
        #expect(outcome.data == ["1"])
        #expect(sent.map(\.path) == ["/v1/items", "/elsewhere", "/v1/items", "/elsewhere"])
        let transport = ScriptedTransport(always: .status(code, headers: [.location: ""]))
        let provider = Provider<TestTarget>(transport: transport, configuration: .init(clock: bench.clock))
        let lost = await bench.outcome(of: provider.serverSentEvents(TestTarget()))
        #expect(lost.error != nil)
        #expect(transport.sent.count < 50)
    }

    @Test("Another Content-Type ends the events with an error")
    func type() async {
        let feed = WatchedFeed(["data: 1\n\n"])
        let html = Step.status(200, headers: [.contentType: "text/html"], body: .stream(feed))
        let (outcome, sent) = await bench.outcome(of: [html, .end])
        #expect(outcome.error?.code == .mapping(.events))
        #expect(outcome.data.isEmpty)
        #expect(sent.count == 1)
    }

    @Test("Events that arrived before a stream broke are delivered, and the next stream resumes after them")
    func broken() async {
        let feed = WatchedFeed(
            ["id: 1\ndata: 1\n\nid: 2\nda", "ta: 2\n\nid: 3\ndata"],
            failure: PipelineError(.connectionLost, "")
        )
        let (outcome, sent) = await bench.outcome(of: [.events(feed), .end])
        #expect(outcome.data == ["1", "2"])
        #expect(outcome.waits == [.seconds(3)])
        #expect(bench.lastEventIDs(sent) == [nil, "2"])
        #expect(feed.isDropped)
    }

    @Test("Waits grow with seeded jitter while attempts fail, and a stream that opens resets the count")
    func growth() async {
        let failing = Array(repeating: Step.failure(.connect(.refused)), count: 4)
        let steps = failing + [.events("data: 1\n\n")] + failing + [.end]
        let (first, _) = await bench.outcome(of: steps)
        let (second, sent) = await bench.outcome(of: steps)
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

    @Test("After too many consecutive failed attempts, the error of the last one is thrown", arguments: [1, 3, 10])
    func maximum(_ maximum: Int) async {
        let failing = Array(repeating: Step.failure(.connectionLost), count: maximum - 1)
        let steps = [.events("data: 1\n\n")] + failing + [.failure(.dns), .end]
        let policy = maximum == 10 ? .standard : ServerSentEvent.ReconnectionPolicy(maximumFailedAttempts: maximum)
        let (outcome, sent) = await bench.outcome(of: steps, reconnection: policy)
        #expect(outcome.error?.code == .dns)
        #expect(sent.count == maximum + 1)
    }

    @Test("Without a maximum, it keeps reconnecting")
    func noMaximum() async {
        let steps = Array(repeating: Step.failure(.offline), count: 50) + [.end]
        let (outcome, sent) = await bench.outcome(
            of: steps,
            reconnection: ServerSentEvent.ReconnectionPolicy(maximumFailedAttempts: nil)
        )
        #expect(outcome.error == nil)
        #expect(sent.count == 51)
    }

    @Test("With .never, the events end with the stream, and a failure is thrown immediately")
    func never() async {
        var (outcome, sent) = await bench.outcome(of: [.events("data: 1\n\n"), .end], reconnection: .never)
        #expect(outcome.data == ["1"])
        #expect(outcome.error == nil)
        #expect(sent.count == 1)
        (outcome, sent) = await bench.outcome(of: [.failure(.connectionLost), .end], reconnection: .never)
        #expect(outcome.error?.code == .connectionLost)
        #expect(sent.count == 1)
    }

    @Test("A policy may reconnect after any failure; by default, only network failures are retried")
    func chosen() async {
        let policy = ServerSentEvent.ReconnectionPolicy { $0.response?.statusCode == 503 }
        let steps = [Step.status(503), .events("data: 1\n\n"), .failure(.connectionLost)]
        let (outcome, sent) = await bench.outcome(of: steps, reconnection: policy)
        #expect(outcome.data == ["1"])
        #expect(outcome.error?.code == .connectionLost)
        #expect(sent.count == 3)
        let (strict, _) = await bench.outcome(of: [.failure(.tls(.certificate)), .end])
        #expect(strict.error?.code == .tls(.certificate))
    }

    @Test("An event that is too long ends the events and closes the exchange")
    func limit() async {
        let feed = WatchedFeed(["data: 1\n\ndata: 123\ndata: 12345\n\n"], hangs: true)
        let (outcome, sent) = await bench.outcome(of: [.events(feed), .end], maximumByteCount: 11 - 3)
        #expect(outcome.data == ["1"])
        #expect(outcome.error?.code == .limit(.lineBytes))
        #expect(feed.isDropped)
        #expect(sent.count == 1)
    }

    @Test("Leaving the loop closes the exchange")
    func leaving() async throws {
        let feed = WatchedFeed(["data: 1\n\n"], hangs: true)
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport([.events(feed)]),
            configuration: .init(clock: bench.clock)
        )
        for try await _ in provider.serverSentEvents(TestTarget()) { break }
        #expect(feed.isDropped)
    }

    @Test(
        "P06: A reader cancelled while it waits to reconnect, for a response or for an event gets CancellationError"
    )
    func cancellation() async throws {
        let feed = WatchedFeed(["data: 1\n\n"], hangs: true)
        for (step, isAsleep) in [(.events("data: 1\n\n"), true), (Step.hang, false), (.events(feed), false)] {
            let transport = ScriptedTransport([step, .end])
            let provider = Provider<TestTarget>(transport: transport, configuration: .init(clock: bench.clock))
            let events = provider.serverSentEvents(TestTarget())
            let reading = Task { for try await _ in events {} }
            if isAsleep { try await bench.clock.waitForSleepers() }
            await eventually { !transport.sent.isEmpty }
            reading.cancel()
            await #expect(throws: CancellationError.self) { try await reading.value }
            #expect(bench.clock.sleeperCount == 0)
            #expect(transport.sent.count == 1)
        }
        #expect(feed.isDropped)
    }

    @Test("A stream that goes silent is closed after the idle timeout, and the subscription reconnects")
    func idle() async {
        let feed = WatchedFeed(["id: 1\ndata: 1\n\n"], hangs: true)
        var target = TestTarget()
        target.options.idleTimeout = .seconds(45)
        // The timeout also runs while the first piece is read.
        let (outcome, sent) = await bench.outcome(of: [.events(feed), .end], target: target, movingAfter: 2)
        #expect(outcome.data == ["1"])
        #expect(outcome.error == nil)
        #expect(outcome.waits.suffix(2) == [.seconds(45), .seconds(3)])
        #expect(bench.lastEventIDs(sent) == [nil, "1"])
    }
}
