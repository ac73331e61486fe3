import Foundation
import Pipeline

// sample: target
enum NativeGitHub: TargetType, AccessTokenAuthorizable {
    struct User: Decodable { let login: String }

    case profile(String)
    case search(text: String, page: Int?)

    var baseURL: URL { Endpoint.url("https://api.github.com") }
    var path: String {
        switch self {
        case .profile(let name): "users/\(Endpoint.pathSegment(name))"
        case .search: "search/repositories"
        }
    }
    var method: HTTPMethod { .get }
    var task: RequestTask {
        switch self {
        case .profile: .requestPlain
        case .search(let text, let page):
            .requestParameters(parameters: ["q": text, "page": page], encoding: URLEncoding.queryString)
        }
    }
    var validationType: ValidationType { .successCodes }
    var authorizationType: AuthorizationType? { .bearer }
}
// end
