import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineCore

@Suite("Subscription restarts", .tags(.concurrent), .watched)
struct RestartSignalTests {
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

    @Test("A restart closes the stream and reconnects immediately with the last event ID")
    func restart() async throws {
        let feed = WatchedFeed(["id: 1\ndata: 1\n\ndata: half"], hangs: true)
        let transport = ScriptedTransport([.events(feed), .events("data: 2\n\n"), .end])
        let news = subscription(transport)
        var texts: [String] = []
        for try await notice in news.notices {
            texts.append(SubscriptionBench.Outcome.text(of: notice))
            if notice.event?.data == "1" { news.restart() }
            if notice.event?.data == "2" { break }
        }
        #expect(texts == ["open 200", "event 1", "wait 0.0 seconds without an error", "open 200", "event 2"])
        #expect(feed.isDropped)
        #expect(bench.lastEventIDs(transport.sent) == [nil, "1"])
        #expect(bench.clock.sleeperCount == 0)
    }

    @Test("A restart from any task interrupts a silent stream, a connection attempt and a wait")
    func restartOfWaits() async throws {
        let feed = WatchedFeed(["data: 1\n\n"], hangs: true)
        for (step, isRead, isAsleep) in [
            (Step.events(feed), true, false), (.hang, false, false), (.events(""), false, true),
        ] {
            let transport = ScriptedTransport { _, index in index == 0 ? step : .end }
            let news = subscription(transport)
            let reading = Task { for try await _ in news {} }
            if isAsleep { try await bench.clock.waitForSleepers() }
            await eventually { !transport.sent.isEmpty && (!isRead || feed.readCount > 0) }
            news.restart()
            try await reading.value
            #expect(transport.sent.count == 2)
            #expect(bench.clock.now.offset == .zero)
        }
        #expect(feed.isDropped)
    }

    @Test("Events that have arrived are delivered before a restart")
    func restartAfterArrival() async throws {
        let transport = ScriptedTransport([.events("id: 1\ndata: 1\n\nid: 2\ndata: 2\n\n"), .end])
        let news = subscription(transport)
        var data: [String] = []
        for try await event in news {
            data.append(event.data)
            news.restart()
        }
        #expect(data == ["1", "2"])
        #expect(bench.lastEventIDs(transport.sent) == [nil, "2"])
    }

    @Test("A restart delivers all events of a long piece first")
    func restartAfterLongPiece() async throws {
        let piece = (1...300).map { "data: \($0)\n\n" }.joined()
        let news = subscription(ScriptedTransport([.events(piece), .end]))
        var data: [String] = []
        for try await event in news {
            if data.isEmpty { news.restart() }
            data.append(event.data)
        }
        #expect(data == (1...300).map { "\($0)" })
    }

    @Test("A restart before the first event is requested has no effect")
    func restartBeforeReading() async throws {
        let transport = ScriptedTransport([.events("data: 1\n\n"), .end])
        let news = subscription(transport)
        news.restart()
        for try await _ in news { break }
        #expect(transport.sent.count == 1)
    }

    @Test("Work that completes despite a restart keeps its result")
    func resultDespiteRestart() async throws {
        let signal = RestartSignal()
        let value = try await signal.run(after: 0) {
            signal.raise()
            // Until the restart has been noticed.
            await eventually { Task.isCancelled }
            return 7
        }
        #expect(value == 7)
        await #expect(throws: RestartSignal.Restarted.self) { try await signal.run(after: 0) { 8 } }
        #expect(try await signal.run(after: 1) { 9 } == 9)
    }
}
