import Foundation
import Pipeline

/// An archive on a bad day: it fails, it is slow, and its members' tokens expire.
enum Archive {
    /// Fails twice with 503, then succeeds.
    case catalogue
    /// Responds after one second.
    case report
    /// Stores a text.
    case keep(String)
    /// Returns the stored text.
    case kept
    /// Requires the access token of a member.
    case members
    /// Returns a new token for members.
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

/// The body of a response of the archive.
struct ArchiveAnswer: Codable, Sendable {
    /// The number of requests of this kind so far, including this one.
    let count: Int
    /// The number of body bytes that the server received.
    var byteCount = 0
    /// The content coding of the received body.
    var coding = "none"
    /// A token for members; `nil` in other responses.
    var token: String?
}
