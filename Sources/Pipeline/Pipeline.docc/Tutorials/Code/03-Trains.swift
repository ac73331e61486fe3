import Foundation
import Pipeline

struct Departure: Decodable {
    let destination: String
    let track: Int
}

enum Trains: DecodableTargetType {
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
    var sampleData: Data { Data(#"[{"destination": "Bern", "track": 7}]"#.utf8) }
}
