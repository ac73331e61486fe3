import Foundation
import Pipeline

/// A public weather service.
///
/// Every response is a forecast, and the target declares this as its result type.
enum Weather: DecodableTargetType {
    typealias ResultType = Forecast

    case today(city: String)
    case tomorrow(city: String)

    var baseURL: URL { Endpoint.url("https://weather.example") }

    var path: String {
        switch self {
        case .today(let city): "today/\(city)"
        case .tomorrow(let city): "tomorrow/\(city)"
        }
    }

    var method: HTTPMethod { .get }
    var task: RequestTask { .requestPlain }
    var headers: [String: String]? { ["Accept": "application/json"] }
    var validationType: ValidationType { .successCodes }
    var options: RequestOptions { RequestOptions { $0.attemptTimeout = .seconds(2) } }
}

struct Forecast: Codable, Sendable {
    let city: String
    let sky: String
    let degrees: Int
}
