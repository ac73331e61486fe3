import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting
import TestSupport
import Testing

@Suite("EventsPlugin", .tags(.concurrent), .watched)
struct EventsPluginTests {
    private let events = EventsPlugin()
    private let clock = ManualClock()

    private func provider(_ steps: [ScriptedTransport.Step], _ plugins: any PluginType...) -> Provider<Ask> {
        Provider(
            transport: ScriptedTransport(steps),
            plugins: [events] + plugins,
            configuration: .init(clock: clock)
        )
    }

    private func text(_ event: EventsPlugin.Event) -> String {
        switch event.kind {
        case .began(let request): "\(event.id): \(event.callID) began \(request.path)"
        case .exchange(let exchange):
            "\(event.id): \(event.callID) exchange \(exchange.attempt) \(exchange.statusCode ?? 0)"
        case .finished(let outcome): "\(event.id): \(event.callID) \(outcome.kind) \(outcome.exchanges.count)"
        }
    }

    private func next(_ count: Int, of events: AsyncStream<EventsPlugin.Event>) async -> [String] {
        var texts: [String] = []
        for await event in events.prefix(count) { texts.append(text(event)) }
        return texts
    }

    @Test("The plugin passes the conformance suite")
    func conformance() async {
        #expect(await PluginConformance { EventsPlugin() }.run() == [])
    }

    @Test("A call is reported from its beginning to its outcome, with each exchange")
    func retried() async throws {
        let retry = RetryPlugin(policy: RetryPolicy(statusCodes: [503]), backoff: .immediate)
        let provider = provider([.status(503), .status(200), .failure(.connectionLost)], retry)
        let stream = events.events()
        _ = try await provider.request(Ask())
        _ = try? await provider.request(Ask(method: .post))
        #expect(
            await next(7, of: stream) == [
                "1: 1 began /b", "2: 1 exchange 1 503", "3: 1 exchange 2 200", "4: 1 success 2", "5: 2 began /b",
                "6: 2 exchange 1 0", "7: 2 failure 1",
            ]
        )
    }

    @Test("Inside a plugin that retries, a call begins once")
    func inside() async throws {
        let retry = RetryPlugin(policy: RetryPolicy(statusCodes: [503]), backoff: .immediate)
        let provider = Provider<Ask>(
            transport: ScriptedTransport([.status(503), .status(200)]),
            plugins: [retry, events],
            configuration: .init(clock: clock)
        )
        let stream = events.events()
        _ = try await provider.request(Ask())
        let texts = ["1: 1 began /b", "2: 1 exchange 1 503", "3: 1 exchange 2 200", "4: 1 success 2"]
        #expect(await next(4, of: stream) == texts)
    }

    @Test("Each sequence gets the events from its beginning on, and a slow one loses the oldest")
    func readers() async throws {
        let provider = provider(Array(repeating: .status(200), count: 3))
        _ = try await provider.request(Ask())
        let (all, newest) = (events.events(), events.events(bufferedCount: 2))
        for _ in 1...2 { _ = try await provider.request(Ask()) }
        #expect(await next(6, of: all).map { $0.prefix(2) } == ["1:", "2:", "3:", "4:", "5:", "6:"])
        #expect(await next(2, of: newest).map { $0.prefix(2) } == ["5:", "6:"])
    }

    @Test("A background call is reported with the call that began it, and events have the date of the clock")
    func background() async throws {
        let fields: HTTPFields = [.cacheControl: "max-age=1, stale-while-revalidate=60"]
        let cache = CachePlugin()
        let provider = provider(Array(repeating: .status(200, headers: fields), count: 2), cache)
        _ = try await provider.request(Ask())
        clock.advance(by: .seconds(10))
        let stream = events.events()
        _ = try await provider.request(Ask())
        #expect(await provider.drain(within: .seconds(1)))
        var parents: [Int?] = []
        for await event in stream.prefix(4) {
            #expect(event.date == clock.date)
            #expect(event.target is Ask)
            parents.append(event.parentID)
        }
        #expect(parents.count(where: { $0 == nil }) == 2)
        #expect(parents.count(where: { $0 == 2 }) == 2)
    }

    @Test("A sequence ends with its plugin, and one that is no longer read costs nothing")
    func end() async throws {
        var plugin: EventsPlugin? = EventsPlugin()
        let stream = try #require(plugin?.events())
        weak let released = plugin
        plugin = nil
        #expect(released == nil)
        for await _ in stream { Issue.record("an event after the end") }
        let call = Task { [events] in for await _ in events.events() {} }
        call.cancel()
        await call.value
        _ = try await provider([.status(200)]).request(Ask())
    }
}
