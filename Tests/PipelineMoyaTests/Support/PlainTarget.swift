import Foundation
import PipelineMoya

let exampleURL = URL(string: "https://example.com") ?? URL(filePath: "/")

/// A target whose members are all given.
struct PlainTarget: TargetType {
    var baseURL = exampleURL
    var path = "/endpoint"
    var method = Moya.Method.get
    var sampleData = Data("sample".utf8)
    var task = PipelineMoya.Task.requestPlain
    var validationType = ValidationType.none
    var headers: [String: String]?
}

/// A target with an access token.
struct AuthorizedTarget: TargetType, AccessTokenAuthorizable {
    var authorizationType: AuthorizationType?
    var baseURL = exampleURL
    var path = "/secret"
    var method = Moya.Method.get
    var task = PipelineMoya.Task.requestPlain
    var headers: [String: String]?
}

extension Endpoint {
    /// An endpoint with a task, as most tests need it.
    static func make(
        _ task: PipelineMoya.Task = .requestPlain,
        method: Moya.Method = .get,
        url: String = "https://example.com",
        headers: [String: String]? = ["Title": "Dominar"]
    ) -> Endpoint {
        Endpoint(
            url: url,
            sampleResponseClosure: { .networkResponse(200, Data()) },
            method: method,
            task: task,
            httpHeaderFields: headers
        )
    }
}
