import Foundation
import Pipeline

/// A news agency with a live stream of headlines and a yearbook to download.
enum News {
    case headlines
    case yearbook(DownloadDestination)
}

extension News: TargetType {
    var baseURL: URL { Endpoint.url("https://news.example") }

    var path: String {
        switch self {
        case .headlines: "headlines"
        case .yearbook: "yearbook"
        }
    }

    var method: HTTPMethod { .get }

    var task: RequestTask {
        switch self {
        case .headlines: .requestPlain
        case .yearbook(let destination): .downloadDestination(destination)
        }
    }

    var validationType: ValidationType { .successCodes }
}

struct Headline: Codable, Sendable {
    let text: String
}
