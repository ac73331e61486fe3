import Pipeline
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
