import Foundation
import Pipeline

let provider = Provider<Trains>(transport: StubTransport()) { target in
    var endpoint = Endpoint(target)
    endpoint.sampleResponse = { .networkResponse(404, Data()) }
    return endpoint
}

do {
    for departure in try await provider.requestDecoded(.departures(station: "basle")) {
        print(departure.destination, "from track", departure.track)
    }
} catch let error as PipelineError {
    switch error.code {
    case .unacceptableStatus where error.statusCode == 404: print("There is no such station.")
    case .offline, .dns, .connect, .connectionLost, .timeout: print("Try again later.")
    default: print(error)
    }
}
