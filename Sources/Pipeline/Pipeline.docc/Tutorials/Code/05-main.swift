import Pipeline

let provider = makeProvider(transport: StubTransport())
print(provider.explain())

for departure in try await provider.requestDecoded(.departures(station: "basel")) {
    print(departure.destination, "from track", departure.track)
}
