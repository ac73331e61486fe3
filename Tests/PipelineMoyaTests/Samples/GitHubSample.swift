// swift-format-ignore-file
// Written as for Moya, with nothing but another import.
import Foundation
import PipelineMoya

enum GitHub {
    case zen
    case userProfile(String)
    case userRepositories(String)
    case search(query: String, page: Int?)
}

extension GitHub: TargetType {
    var baseURL: URL { URL(string: "https://api.github.com")! }

    var path: String {
        switch self {
        case .zen:
            return "/zen"
        case .userProfile(let name):
            return "/users/\(name.urlEscaped)"
        case .userRepositories(let name):
            return "/users/\(name)/repos"
        case .search:
            return "/search/repositories"
        }
    }

    var method: Moya.Method { .get }

    var task: Task {
        switch self {
        case .userRepositories:
            return .requestParameters(parameters: ["sort": "pushed"], encoding: URLEncoding.default)
        case .search(let query, let page):
            var parameters: [String: Any] = ["q": query]
            parameters["page"] = page
            return .requestParameters(parameters: parameters, encoding: URLEncoding.queryString)
        default:
            return .requestPlain
        }
    }

    var validationType: ValidationType {
        switch self {
        case .zen:
            return .successCodes
        default:
            return .none
        }
    }

    var sampleData: Data {
        switch self {
        case .zen:
            return "Half measures are as bad as nothing at all.".data(using: .utf8)!
        case .userProfile(let name):
            return "{\"login\": \"\(name)\", \"id\": 100}".data(using: .utf8)!
        case .userRepositories(let name):
            return "[{\"name\": \"\(name)\"}]".data(using: .utf8)!
        case .search:
            return "{\"items\": []}".data(using: .utf8)!
        }
    }

    var headers: [String: String]? { nil }
}

extension GitHub: Equatable {}

private extension String {
    var urlEscaped: String {
        addingPercentEncoding(withAllowedCharacters: .urlHostAllowed)!
    }
}

func JSONResponseDataFormatter(_ data: Data) -> String {
    do {
        let dataAsJSON = try JSONSerialization.jsonObject(with: data)
        let prettyData = try JSONSerialization.data(withJSONObject: dataAsJSON, options: .prettyPrinted)
        return String(data: prettyData, encoding: .utf8) ?? String(data: data, encoding: .utf8) ?? ""
    } catch {
        return String(data: data, encoding: .utf8) ?? ""
    }
}

let gitHubProvider = MoyaProvider<GitHub>(
    stubClosure: MoyaProvider.immediatelyStub,
    plugins: [
        NetworkLoggerPlugin(
            configuration: .init(
                formatter: .init(responseData: JSONResponseDataFormatter),
                output: { _, _ in },
                logOptions: .verbose
            )
        )
    ]
)
