// Moves from Moya to Pipeline call by call: one import, old and new targets and plugins side by side.
import Foundation
import HTTPTypes
import PipelineMoya

enum Account: TargetType, AccessTokenAuthorizable {
    case show

    var baseURL: URL { exampleURL }
    var path: String { "/account" }
    var method: Moya.Method { .get }
    var task: Task { .requestPlain }
    var headers: [String: String]? { nil }
    var validationType: ValidationType { .successCodes }
    var authorizationType: AuthorizationType? { .bearer }
}

enum Profile: Pipeline.TargetType {
    case show(id: Int)

    var baseURL: URL { exampleURL }
    var path: String {
        switch self {
        case .show(let id): "/profiles/\(id)"
        }
    }
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestPlain }
    var validationType: Pipeline.ValidationType { .successCodes }
}

struct SessionPlugin: PluginType {
    func prepare(_ request: URLRequest, target: TargetType) -> URLRequest {
        var request = request
        request.setValue("s1", forHTTPHeaderField: "X-Session")
        return request
    }
}

final class AccountModel {
    struct User: Codable, Equatable { let name: String }

    let provider: MoyaProvider<Account>

    init(transport: any Transport) {
        let retry = RetryPlugin(backoff: RetryPolicy.Backoff { _, _ in .zero })
        provider = MoyaProvider(
            transport: transport,
            plugins: [SessionPlugin(), retry, HeadersPlugin(["X-App": "shop"])]
        )
    }

    func account(_ completion: @escaping (Result<User, MoyaError>) -> Void) {
        provider.request(.show) { result in
            completion(
                result.flatMap { response in
                    Result { try response.map(User.self) }.mapError { $0 as? MoyaError ?? .underlying($0, nil) }
                }
            )
        }
    }

    func profile(_ id: Int) async throws -> User {
        try await provider.provider.request(Profile.show(id: id), as: User.self)
    }
}
