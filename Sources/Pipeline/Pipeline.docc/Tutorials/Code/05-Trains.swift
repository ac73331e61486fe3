import Foundation
import Pipeline

struct Departure: Decodable {
    let destination: String
    let track: Int
}

enum Trains: DecodableTargetType, AccessTokenAuthorizable {
    typealias ResultType = [Departure]
    case departures(station: String)

    var baseURL: URL { Endpoint.url("https://trains.example/v1") }
    var path: String {
        switch self {
        case .departures(let station): "stations/\(station)/departures"
        }
    }
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestPlain }
    var authorizationType: AuthorizationType? { .bearer }
    var sampleData: Data { Data(#"[{"destination": "Bern", "track": 7}]"#.utf8) }
}

func makeProvider(
    transport: any Transport,
    configuration: ProviderConfiguration = .init()
) -> Provider<Trains> {
    Provider(
        transport: transport,
        plugins: [
            LoggingPlugin(level: .error),
            AccessTokenPlugin { _ in "2YotnFZFEjr1zCsicMWpAA" },
            RetryPlugin(),
        ],
        configuration: configuration
    )
}
