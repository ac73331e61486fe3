// swift-format-ignore-file
// Written as for Moya, with nothing but another import.
import Foundation
import PipelineMoya

struct NewUser: Codable {
    let firstName: String
    let lastName: String
}

enum MyService {
    case showUser(id: Int)
    case createUser(firstName: String, lastName: String)
    case register(NewUser)
    case updateUser(id: Int, firstName: String, lastName: String)
    case uploadAvatar(Data)
    case downloadReport(to: URL)
}

extension MyService: TargetType, AccessTokenAuthorizable {
    var baseURL: URL { return URL(string: "https://api.myservice.com")! }
    var path: String {
        switch self {
        case .showUser(let id), .updateUser(let id, _, _):
            return "/users/\(id)"
        case .createUser, .register:
            return "/users"
        case .uploadAvatar:
            return "/avatar"
        case .downloadReport:
            return "/report"
        }
    }
    var method: Moya.Method {
        switch self {
        case .showUser, .downloadReport:
            return .get
        case .createUser, .register, .updateUser, .uploadAvatar:
            return .post
        }
    }
    var task: Task {
        switch self {
        case .showUser:
            return .requestPlain
        case let .updateUser(_, firstName, lastName):
            return .requestParameters(
                parameters: ["first_name": firstName, "last_name": lastName],
                encoding: URLEncoding.queryString
            )
        case let .createUser(firstName, lastName):
            return .requestParameters(
                parameters: ["first_name": firstName, "last_name": lastName],
                encoding: JSONEncoding.default
            )
        case .register(let user):
            let encoder = JSONEncoder()
            encoder.keyEncodingStrategy = .convertToSnakeCase
            return .requestCustomJSONEncodable(user, encoder: encoder)
        case .uploadAvatar(let data):
            let part = MultipartFormBodyPart(
                provider: .data(data),
                name: "avatar",
                fileName: "me.jpg",
                mimeType: "image/jpeg"
            )
            return .uploadMultipartFormData([part])
        case .downloadReport(let url):
            return .downloadDestination { _, _ in
                (url, [.removePreviousFile, .createIntermediateDirectories])
            }
        }
    }
    var sampleData: Data {
        switch self {
        case .showUser(let id):
            return "{\"id\": \(id), \"first_name\": \"Harry\", \"last_name\": \"Potter\"}".utf8Encoded
        default:
            return Data()
        }
    }
    var headers: [String: String]? {
        return ["Content-type": "application/json"]
    }
    var authorizationType: AuthorizationType? {
        switch self {
        case .showUser: return nil
        default: return .bearer
        }
    }
}

private extension String {
    var utf8Encoded: Data { Data(self.utf8) }
}

// A plugin with state, without Sendable.
final class RequestAlertPlugin: PluginType {
    private var shownAlerts: [String] = []
    private var isShowing = false
    var onChange: ((Bool) -> Void)?

    func willSend(_ request: RequestType, target: TargetType) {
        guard let requestURLString = request.request?.url?.absoluteString else { return }
        isShowing = true
        shownAlerts.append(requestURLString)
        onChange?(true)
    }

    func didReceive(_ result: Result<Response, MoyaError>, target: TargetType) {
        isShowing = false
        onChange?(false)
        guard case .failure(let error) = result else { return }
        switch error {
        case .statusCode(let response), .jsonMapping(let response):
            shownAlerts.append("\(response.statusCode)")
        case .underlying(let underlying, let response):
            shownAlerts.append("\((underlying as NSError).code) \(response?.statusCode ?? 0)")
        default:
            shownAlerts.append(error.errorDescription ?? "unknown")
        }
    }

    var alerts: [String] { shownAlerts }
}

struct AuthPlugin: PluginType {
    let tokenClosure: () -> String?

    func prepare(_ request: URLRequest, target: TargetType) -> URLRequest {
        guard let token = tokenClosure(), target is MyService else { return request }
        var request = request
        request.addValue("Bearer " + token, forHTTPHeaderField: "Authorization")
        request.headers.add(.userAgent("MyService/1.0"))
        request.timeoutInterval = 30
        return request
    }
}

struct EnvelopePlugin: PluginType {
    func process(_ result: Result<Moya.Response, MoyaError>, target: TargetType) -> Result<Moya.Response, MoyaError> {
        switch result {
        case .success(let response):
            do {
                return .success(try response.filterSuccessfulStatusCodes())
            } catch {
                return .failure(error as? MoyaError ?? .underlying(error, response))
            }
        case .failure:
            return result
        }
    }
}

// A network layer around the provider, as many apps have one.
class Networking<T: TargetType> {
    private let provider: MoyaProvider<T>

    init(_ provider: MoyaProvider<T>) {
        self.provider = provider
    }

    static func endpointClosure(_ token: String) -> (T) -> Endpoint {
        return { target in
            let endpoint = MoyaProvider.defaultEndpointMapping(for: target)
            return endpoint.adding(newHTTPHeaderFields: ["X-App": token])
        }
    }

    static func requestClosure() -> MoyaProvider<T>.RequestClosure {
        return { endpoint, done in
            do {
                let request = try endpoint.urlRequest()
                DispatchQueue.global().async {
                    done(.success(request))
                }
            } catch {
                done(.failure(MoyaError.underlying(error, nil)))
            }
        }
    }

    @discardableResult
    func load<D: Decodable>(
        _ target: T,
        as type: D.Type,
        completion: @escaping (Result<D, Error>) -> Void
    ) -> Moya.Cancellable {
        return provider.request(target) { result in
            switch result {
            case .success(let response):
                do {
                    completion(.success(try response.map(D.self)))
                } catch {
                    completion(.failure(error))
                }
            case .failure(let error):
                completion(.failure(error))
            }
        }
    }
}

// A view model that is isolated to the main actor.
@MainActor
final class UserViewModel {
    private let provider: MoyaProvider<MyService>
    private(set) var name = ""
    private(set) var status = 0
    var onUpdate: () -> Void = {}

    init(provider: MoyaProvider<MyService>) {
        self.provider = provider
    }

    func load() {
        provider.request(.showUser(id: 1)) { [weak self] result in
            guard let self = self else { return }
            switch result {
            case .success(let response):
                self.status = response.statusCode
                self.name = (try? response.mapString(atKeyPath: "first_name")) ?? ""
            case .failure:
                self.status = -1
            }
            self.onUpdate()
        }
    }
}
