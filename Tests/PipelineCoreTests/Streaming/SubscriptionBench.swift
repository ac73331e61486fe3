import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// Reads subscriptions in virtual time.
struct SubscriptionBench {
    /// The outcome of a subscription.
    struct Outcome: Sendable {
        var notices: [ServerSentEvent.Subscription.Notice] = []
        var waits: [Duration] = []
        var error: PipelineError?

        var events: [ServerSentEvent] { notices.compactMap(\.event) }
        var data: [String] { events.map(\.data) }
        /// Each notice as text, for example `wait 3.0 seconds connectionLost`.
        var texts: [String] { notices.map(Self.text) }

        static func text(of notice: ServerSentEvent.Subscription.Notice) -> String {
            if let event = notice.event { return "event \(event.data)" }
            if let comment = notice.comment { return "comment \(comment)" }
            if let response = notice.response { return "open \(response.statusCode)" }
            guard let reconnection = notice.reconnection else { return "nothing" }
            return "wait \(reconnection.delay) \(reconnection.error?.code.rawValue ?? "without an error")"
        }
    }

    let clock = ManualClock()

    /// Reads to the end, and advances the clock to the next sleeper after `count` notices.
    ///
    /// - Parameters:
    ///   - events: the subscription.
    ///   - count: the notices to read before time passes.
    ///   - limit: when the reader is cancelled.
    /// - Returns: the outcome.
    func outcome(
        of events: ServerSentEvent.Subscription,
        movingAfter count: Int = 0,
        until limit: Duration = .seconds(1_000_000)
    ) async -> Outcome {
        let isDone = Atomic(false)
        let readCount = Atomic(0)
        let reading = Task {
            defer { isDone.store(true, ordering: .releasing) }
            var outcome = Outcome()
            outcome.error = await pipelineError {
                for try await notice in events.notices {
                    outcome.notices.append(notice)
                    readCount.add(1, ordering: .releasing)
                }
            }
            return outcome
        }
        var waits: [Duration] = []
        var pauses = Pauses()
        while !isDone.load(ordering: .acquiring) {
            guard pauses.count < 60_000 else {
                Issue.record("The subscription neither ended nor slept within 60,000 looks, one per millisecond.")
                reading.cancel()
                return Outcome()
            }
            let before = clock.now
            if before.offset >= limit {
                reading.cancel()
            } else if readCount.load(ordering: .acquiring) >= count, clock.advanceIfAnyoneSleeps() {
                waits.append(before.duration(to: clock.now))
                pauses = Pauses()
            }
            await pauses.next()
        }
        var outcome = await reading.value
        outcome.waits = waits
        return outcome
    }

    func outcome(
        of steps: [ScriptedTransport.Step],
        target: TestTarget = TestTarget(),
        lastEventID: String = "",
        reconnection: ServerSentEvent.ReconnectionPolicy = .standard,
        maximumByteCount: Int = 1 << 20,
        movingAfter count: Int = 0
    ) async -> (Outcome, [PipelineRequest]) {
        let transport = ScriptedTransport(steps)
        let provider = Provider<TestTarget>(
            transport: transport,
            configuration: .init(clock: clock, random: .seeded(1))
        )
        let events = provider.serverSentEvents(
            target,
            lastEventID: lastEventID,
            reconnection: reconnection,
            maximumByteCount: maximumByteCount
        )
        return (await outcome(of: events, movingAfter: count), transport.sent)
    }

    func lastEventIDs(_ requests: [PipelineRequest]) -> [String?] {
        requests.map { $0.headers[HTTPField.Name("Last-Event-ID") ?? .accept] }
    }
}

extension ScriptedTransport.Step {
    /// A stream of events.
    static func events(_ text: String) -> Self { events(.bytes(Data(text.utf8))) }

    static func events(_ feed: WatchedFeed) -> Self { events(.stream(feed)) }

    static func events(_ body: PipelineBody, headers: HTTPFields = [:]) -> Self {
        var headers = headers
        headers[.contentType] = "text/event-stream"
        return .status(200, headers: headers, body: body)
    }

    /// The end of a subscription.
    static let end = Self.status(204)
}
