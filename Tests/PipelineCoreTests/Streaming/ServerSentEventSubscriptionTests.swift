import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Event subscriptions: backoff, replay, last event ID", .tags(.concurrent), .watched)
struct ServerSentEventSubscriptionTests {
    private let bench = SubscriptionBench()

    private typealias Step = ScriptedTransport.Step

    private func subscription(
        _ transport: ScriptedTransport,
        lastEventID: String = "",
        reconnection: ServerSentEvent.ReconnectionPolicy = .standard
    ) -> ServerSentEvent.Subscription {
        Provider<TestTarget>(transport: transport, configuration: .init(clock: bench.clock, random: .seeded(1)))
            .serverSentEvents(TestTarget(), lastEventID: lastEventID, reconnection: reconnection)
    }

    // MARK: Back-off

    @Test("S01 A server that sends retry: 0 and ends each stream immediately is contacted less and less often")
    func storm() async {
        let transport = ScriptedTransport(always: .events(": welcome\nretry: 0\n\n"))
        let outcome = await bench.outcome(of: subscription(transport), until: .seconds(3_600))
        // Without growth there would be 7,200 requests; without a minimum there would be no bound.
        #expect(transport.sent.count < 300)
        #expect(outcome.waits.allSatisfy { $0 >= .milliseconds(500) })
        #expect(outcome.waits.contains { $0 > .seconds(50) })
        #expect(outcome.waits.prefix(5).allSatisfy { $0 <= .seconds(32) })
    }

    @Test("S01 Empty streams make the wait grow but do not count as failed attempts")
    func emptyStreams() async {
        let steps = Array(repeating: Step.events(""), count: 40) + [.end]
        let (outcome, _) = await bench.outcome(
            of: steps,
            reconnection: ServerSentEvent.ReconnectionPolicy(maximumFailedAttempts: 1)
        )
        #expect(outcome.error == nil)
        #expect(outcome.waits.count == 40)
        #expect(outcome.waits.allSatisfy { (.seconds(3))...(.seconds(60)) ~= $0 })
        #expect(outcome.waits.contains { $0 > .seconds(30) })
    }

    @Test("S01 With an event in each stream, the wait stays at the requested time, but at least the minimum")
    func minimum() async {
        let steps = Array(repeating: Step.events("retry: 0\ndata: 1\n\n"), count: 20) + [.end]
        var (outcome, _) = await bench.outcome(of: steps)
        #expect(outcome.waits == Array(repeating: .milliseconds(500), count: 20))
        let policy = ServerSentEvent.ReconnectionPolicy(minimumReconnectionTime: .seconds(2))
        (outcome, _) = await bench.outcome(of: steps, reconnection: policy)
        #expect(outcome.waits == Array(repeating: .seconds(2), count: 20))
    }

    @Test("S01 An event resets the wait")
    func eventEndsGrowth() async {
        let empty = Array(repeating: Step.events(""), count: 8)
        let (outcome, _) = await bench.outcome(of: empty + [.events("data: 1\n\n")] + empty + [.end])
        #expect((outcome.waits.prefix(8).max() ?? .zero) > .seconds(12))
        #expect(outcome.waits[8] == .seconds(3))
        #expect(outcome.waits[9] <= .seconds(6))
    }

    @Test(
        "A stream without an event resets the wait if it was open for at least the maximum wait",
        arguments: [59, 60]
    )
    func quietStream(_ seconds: Int) async {
        let clock = bench.clock
        let quiet = AsyncStream<Data> {
            try? await clock.sleep(for: .seconds(seconds))
            return nil
        }
        let (outcome, _) = await bench.outcome(of: [.events(""), .events(""), .events(.stream(quiet)), .end])
        #expect(outcome.waits[2] == .seconds(seconds))
        #expect((outcome.waits[3] == .seconds(3)) == (seconds == 60))
    }

    @Test("After a replayed stream or failure, the next attempt is immediate, with the same notices")
    func replayed() async {
        let steps: [Step] = [
            .events("data: 1\n\n"), .failure(.connectionLost), .events("retry: 9000\n\n"), .events("data: 2\n\n"), .end,
        ]
        var texts: [[String]] = []
        for isReplayed in [false, true] {
            let mark = PluginStack.didReceive { _, context in context.report(.replayed(isReplayed)) }
            let transport = ScriptedTransport(steps)
            let provider = Provider<TestTarget>(
                transport: transport,
                plugins: [mark],
                configuration: .init(clock: bench.clock, random: .seeded(1))
            )
            let outcome = await bench.outcome(of: provider.serverSentEvents(TestTarget()))
            #expect(outcome.waits.count == (isReplayed ? 0 : 4))
            #expect(transport.sent.count == 5)
            texts.append(outcome.texts)
        }
        #expect(
            texts[1] == [
                "open 200", "event 1", "wait 0.0 seconds without an error", "wait 0.0 seconds connectionLost",
                "open 200",
                "wait 0.0 seconds without an error", "open 200", "event 2", "wait 0.0 seconds without an error",
            ]
        )
        #expect(texts[0].count == texts[1].count)
    }

    @Test("A replayed failure counts as a failed attempt")
    func replayedFailures() async {
        let mark = PluginStack.didReceive { _, context in context.report(.replayed(true)) }
        let transport = ScriptedTransport(always: .failure(.connectionLost))
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [mark],
            configuration: .init(clock: bench.clock)
        )
        let outcome = await bench.outcome(of: provider.serverSentEvents(TestTarget()))
        #expect(outcome.error?.code == .connectionLost)
        #expect(transport.sent.count == 10)
        #expect(outcome.waits == [])
    }

    // MARK: The last event ID

    @Test("The last event ID is that of the last event read, even if later ones have been decoded")
    func lastEventID() async throws {
        let transport = ScriptedTransport([.events("id: 1\ndata: 1\n\nid: 2\ndata: 2\n\ndata: 3\n\nid: 4\n\n"), .end])
        let news = subscription(transport, lastEventID: "0", reconnection: .never)
        #expect(news.lastEventID == "0")
        var ids: [String] = []
        for try await _ in news { ids.append(news.lastEventID) }
        #expect(ids == ["1", "2", "2"])
        #expect(news.lastEventID == "4")
        #expect(bench.lastEventIDs(transport.sent) == ["0"])
    }

    @Test("A second loop resumes after the last event of the first")
    func resuming() async throws {
        let transport = ScriptedTransport(always: .events("id: 1\ndata: 1\n\nid: 2\ndata: 2\n\n"))
        let news = subscription(transport)
        for try await _ in news { break }
        for try await _ in news.notices { break }
        #expect(bench.lastEventIDs(transport.sent) == [nil, "1"])
    }

    @Test("The last event ID is available after an error")
    func lastEventIDAfterError() async {
        let transport = ScriptedTransport([.events("id: 1\ndata: 1\n\nid: 2\n\n"), .status(500)])
        let news = subscription(transport)
        let outcome = await bench.outcome(of: news)
        #expect(outcome.error?.code == .unacceptableStatus)
        #expect(news.lastEventID == "2")
    }

    @Test("S01 An ID that Last-Event-ID cannot carry is ignored; the stream resumes from the previous one")
    func unsendableIDs() async {
        let long = String(repeating: "x", count: 70_000)
        for id in ["a\u{1}b", "a\u{0}b", "a\u{7f}", "\u{1b}[0m", long, String(repeating: "x", count: 4_097)] {
            let text = "id: 1\ndata: 1\n\nid: \(id)\ndata: 2\n\n"
            let (outcome, sent) = await bench.outcome(of: [.events(text), .end])
            #expect(outcome.error == nil)
            #expect(outcome.events.map(\.id) == ["1", "1"])
            #expect(bench.lastEventIDs(sent) == [nil, "1"])
        }
        for id in ["a\tb", "é", String(repeating: "x", count: 4_096)] {
            let (_, sent) = await bench.outcome(of: [.events("id: \(id)\ndata: 1\n\n"), .end])
            #expect(bench.lastEventIDs(sent) == [nil, id])
        }
    }

    // MARK: Compressed streams

    @Test("S01 An undecoded compressed body fails with contentCoding.unsupported and names the missing plugin")
    func compressed() async throws {
        for (coding, name) in [
            ("gzip", " with gzip"), ("identity, BR", " with br"), ("s3cr3t", ""), ("br, gzip", ""),
        ] {
            let feed = WatchedFeed(["data: 1\n\n"])
            let step = Step.events(.stream(feed), headers: [.contentEncoding: coding])
            let (outcome, sent) = await bench.outcome(of: [step, .end])
            #expect(outcome.error?.code == .contentCoding(.unsupported))
            #expect(outcome.error?.reason.contains("compressed\(name), ") == true)
            #expect(outcome.error?.reason.contains("add GzipPlugin") == true)
            #expect("\(String(describing: outcome.error))".contains("s3cr3t") == false)
            #expect(outcome.notices.isEmpty)
            #expect(sent.count == 1)
            #expect(feed.readCount == 0)
            let provider = Provider<TestTarget>(transport: ScriptedTransport(always: step))
            for read in Self.readings {
                let error = await pipelineError { try await read(try await provider.stream(TestTarget())) }
                #expect(error?.code == .contentCoding(.unsupported))
                #expect(error?.response?.statusCode == 200)
            }
        }
        let plain = Step.events(.bytes(Data("1\n".utf8)), headers: [.contentEncoding: "Identity"])
        let provider = Provider<TestTarget>(transport: ScriptedTransport(always: plain))
        for read in Self.readings { try await read(try await provider.stream(TestTarget())) }
    }

    private static let readings: [@Sendable (StreamedResponse) async throws -> Void] = [
        { for try await _ in $0.lines() {} },
        { for try await _ in $0.jsonLines(as: Int.self) {} },
        { for try await _ in $0.serverSentEvents() {} },
    ]
}
