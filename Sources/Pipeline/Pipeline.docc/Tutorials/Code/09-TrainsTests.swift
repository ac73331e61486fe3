import Pipeline
import PipelineReplayTesting
import PipelineTesting
import Testing

@testable import Trains

@Test("Departures are decoded")
func departures() async throws {
    let provider = makeProvider(transport: StubTransport())
    let departures = try await provider.requestDecoded(.departures(station: "basel"))
    #expect(departures.map(\.destination) == ["Bern"])
}

@Test("The plugins are in a valid order")
func order() {
    #expect(makeProvider(transport: StubTransport()).explain().findings.isEmpty)
}

@Test("A request is retried after the pause that the server asks for")
func retry() async throws {
    let clock = ManualClock()
    let transport = ScriptedTransport([
        .status(503, headers: [.retryAfter: "20"]),
        .status(200, body: "[]"),
    ])
    let provider = makeProvider(transport: transport, configuration: .init(clock: clock))
    let start = clock.now
    let departures = try await clock.run {
        try await provider.requestDecoded(.departures(station: "basel"))
    }
    #expect(departures.isEmpty)
    #expect(start.duration(to: clock.now) == .seconds(20))
    #expect(transport.sent.count == 2)
}

@Test("Departures have a destination", .replay("departures", recording: StubTransport()))
func replay() async throws {
    let provider = makeProvider(transport: .replay)
    let departures = try await provider.requestDecoded(.departures(station: "basel"))
    #expect(departures.allSatisfy { !$0.destination.isEmpty })
}
