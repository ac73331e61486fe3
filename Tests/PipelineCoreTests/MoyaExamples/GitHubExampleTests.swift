import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("The example from Moya's page on targets", .realTime, .watched)
struct GitHubExampleTests {
    enum GitHub: TargetType {
        case zen
        case userProfile(String)
        case userRepositories(String)
        case branches(String, Bool)

        var baseURL: URL { Endpoint.url("https://api.github.com") }
        var path: String {
            switch self {
            case .zen: "/zen"
            case .userProfile(let name): "/users/\(name.urlEscaped)"
            case .userRepositories(let name): "/users/\(name.urlEscaped)/repos"
            case .branches(let repository, _): "/repos/\(repository.urlEscaped)/branches"
            }
        }
        var method: HTTPMethod { .get }
        var task: RequestTask {
            switch self {
            case .userRepositories:
                .requestParameters(parameters: ["sort": "pushed"], encoding: URLEncoding.default)
            case .branches(_, let isProtected):
                .requestParameters(parameters: ["protected": "\(isProtected)"], encoding: URLEncoding.default)
            default:
                .requestPlain
            }
        }
        var headers: [String: String]? { ["Content-Type": "application/json"] }
        var sampleData: Data {
            switch self {
            case .zen: Data("Mind your words, they are important.".utf8)
            case .userProfile(let name): Data(#"{"login": "\#(name)", "id": 100}"#.utf8)
            case .userRepositories: Data(#"[{"name": "Repo Name"}]"#.utf8)
            case .branches: Data(#"[{"name": "master"}]"#.utf8)
            }
        }
    }

    static let json = ["Content-Type: application/json"]

    static let requests: [(GitHub, String)] = [
        (.zen, "GET https://api.github.com/zen"),
        (.userProfile("ashfurrow"), "GET https://api.github.com/users/ashfurrow"),
        (.userProfile("like this"), "GET https://api.github.com/users/like%20this"),
        (.userProfile("50%/é?#"), "GET https://api.github.com/users/50%25%2F%C3%A9%3F%23"),
        (.userRepositories("ashfurrow"), "GET https://api.github.com/users/ashfurrow/repos?sort=pushed"),
        (.branches("Moya/Moya", true), "GET https://api.github.com/repos/Moya%2FMoya/branches?protected=true"),
        (.branches("Moya", false), "GET https://api.github.com/repos/Moya/branches?protected=false"),
    ]

    @Test("Each case produces the expected request", arguments: 0..<requests.count)
    func request(_ row: Int) async throws {
        let (target, line) = Self.requests[row]
        try await expectRequest(of: target, ExampleRequest(line, Self.json))
    }

    @Test("urlEscaped may be omitted for a name without slashes, question marks and percent signs")
    func unescaped() async throws {
        struct Profile: TargetType {
            let name: String
            var baseURL: URL { GitHub.zen.baseURL }
            var path: String { "/users/\(name)" }
            var method: HTTPMethod { .get }
            var task: RequestTask { .requestPlain }
        }
        try await expectRequest(
            of: Profile(name: "like this"),
            ExampleRequest("GET https://api.github.com/users/like%20this")
        )
    }

    @Test("A stub responds with the sample of each case")
    func samples() async throws {
        struct Profile: Decodable, Equatable {
            let login: String
            let id: Int
        }
        let provider = Provider<GitHub>(transport: StubTransport())
        #expect(try await provider.request(.zen).mapString() == "Mind your words, they are important.")
        let profile = try await provider.request(.userProfile("ashfurrow"), as: Profile.self)
        #expect(profile == Profile(login: "ashfurrow", id: 100))
        #expect(try await provider.request(.userRepositories("x")).mapString(atKeyPath: "0.name") == "Repo Name")
        #expect(try await provider.request(.branches("x", true)).mapString(atKeyPath: "0.name") == "master")
    }

    @Test("An endpoint closure adds header fields to every request")
    func addedField() async throws {
        try await expectRequest(
            of: GitHub.userRepositories("ashfurrow"),
            ExampleRequest(
                "GET https://api.github.com/users/ashfurrow/repos?sort=pushed",
                ["APP_NAME: MY_AWESOME_APP"] + Self.json
            ),
            endpoint: { Endpoint($0).adding(newHTTPHeaderFields: ["APP_NAME": "MY_AWESOME_APP"]) }
        )
    }

    @Test("An endpoint closure signs all requests except some")
    func signed() async throws {
        let sign: @Sendable (GitHub) -> Endpoint = { target in
            switch target {
            case .zen: Endpoint(target)
            default: Endpoint(target).adding(newHTTPHeaderFields: ["AUTHENTICATION_TOKEN": "t0ken"])
            }
        }
        try await expectRequest(
            of: GitHub.zen,
            ExampleRequest("GET https://api.github.com/zen", Self.json),
            endpoint: sign
        )
        try await expectRequest(
            of: GitHub.userProfile("x"),
            ExampleRequest("GET https://api.github.com/users/x", ["AUTHENTICATION_TOKEN: t0ken"] + Self.json),
            endpoint: sign
        )
    }

    @Test("An endpoint closure replaces the URL, method and task")
    func replaced() async throws {
        try await expectRequest(
            of: GitHub.zen,
            ExampleRequest("POST https://api.github.com/other?a=1", Self.json, body: #"{"b":2}"#),
            endpoint: { target in
                Endpoint(
                    url: target.baseURL.absoluteString + "/other?a=1",
                    method: .post,
                    task: .requestParameters(parameters: ["b": 2], encoding: JSONEncoding.default),
                    httpHeaderFields: target.headers
                )
            }
        )
    }
}
