import Pipeline

let provider = Provider<Trains>(transport: StubTransport())

for departure in try await provider.requestDecoded(.departures(station: "basel")) {
    print(departure.destination, "from track", departure.track)
}
