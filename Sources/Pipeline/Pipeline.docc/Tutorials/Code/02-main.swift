import Pipeline

let provider = Provider<Trains>(transport: StubTransport())

let response = try await provider.request(.departures(station: "basel"))
print(response.statusCode, try response.mapString())
