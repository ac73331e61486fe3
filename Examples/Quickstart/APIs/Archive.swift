import Foundation
import HTTPTypes
import Pipeline

/// An archive on a bad day: it fails, it is slow, and its members' tokens expire.
enum Archive {
    /// Fails twice before it answers.
    case catalogue
    /// Takes its time.
    case report
    /// Keeps a text.
    case keep(String)
    /// The text that was kept.
    case kept
    /// For members alone.
    case members
    /// A new token for members.
    case renew(password: String)
}

extension Archive: TargetType {
    var baseURL: URL { Endpoint.url("https://archive.example") }

    var path: String {
        switch self {
        case .catalogue: "catalogue"
        case .report: "report"
        case .keep, .kept: "text"
        case .members: "members"
        case .renew: "token"
        }
    }

    var method: HTTPMethod {
        switch self {
        case .keep, .renew: .post
        case .catalogue, .report, .kept, .members: .get
        }
    }

    var task: RequestTask {
        switch self {
        case .keep(let text): .requestData(Data(text.utf8))
        case .renew(let password):
            .requestParameters(parameters: ["user": "ursula", "password": password], encoding: JSONEncoding.default)
        case .catalogue, .report, .kept, .members: .requestPlain
        }
    }

    var headers: [String: String]? {
        guard case .keep = self else { return nil }
        return ["Content-Type": "text/plain; charset=utf-8"]
    }

    var validationType: ValidationType { .successCodes }
}

extension Archive: AccessTokenAuthorizable {
    var authorizationType: AuthorizationType? {
        guard case .members = self else { return nil }
        return .bearer
    }
}

/// What the archive says of a request.
struct ArchiveAnswer: Codable, Sendable {
    /// How often it had been asked this, this time included.
    let count: Int
    /// How many bytes of body arrived.
    var byteCount = 0
    /// In which content coding they arrived.
    var coding = "none"
    /// A token for members.
    var token: String?
}
