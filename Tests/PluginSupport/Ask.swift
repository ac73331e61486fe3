import Foundation
import Pipeline

/// A target whose properties a test sets as needed.
struct Ask: TargetType, AccessTokenAuthorizable {
    var url = "https://a.test"
    var path = "/b"
    var method: HTTPMethod = .get
    var task: RequestTask = .requestPlain
    var headers: [String: String]?
    var validationType: ValidationType = .anyStatus
    var options = RequestOptions()
    var authorizationType: AuthorizationType?
    var pathTemplate: String?

    var baseURL: URL { URL(string: url) ?? URL(filePath: "/") }
}

extension Ask {
    /// A target that requires a bearer token.
    static let bearer = Ask(authorizationType: .bearer)
}

/// A target that does not support access tokens.
struct PlainAsk: TargetType {
    var path = "/b"
    let method: HTTPMethod = .get
    let task: RequestTask = .requestPlain
    var headers: [String: String]?

    var baseURL: URL { URL(string: "https://a.test") ?? URL(filePath: "/") }
}
