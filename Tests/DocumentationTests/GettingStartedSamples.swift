// sample: first call
import Foundation
import Pipeline

// end

/// The samples of the guide GettingStarted, except its tests; their output is collected.
enum GettingStartedSamples {
    @TaskLocal static var output: Output?

    // sample: first call
    nonisolated struct Repository: Decodable { let forks: Int }
    // end

    static func client() -> Provider<URLTarget> {
        // sample: first call
        let userAgent = HeadersPlugin(["User-Agent": "App/1.0"])
        let client = Provider<URLTarget>(plugins: [userAgent])
        // end
        return client
    }

    static func firstCall(_ client: Provider<URLTarget>) async throws {
        // sample: first call
        let repository = try await client.get("https://api.github.com/repos/swiftlang/swift", as: Repository.self)
        print(repository.forks, "forks")
        // end
    }

    // sample: target
    enum GitHub: TargetType {
        case repository(_ name: String)
        case search(_ text: String)
        case createIssue(_ issue: NewIssue, in: String)

        var baseURL: URL { Endpoint.url("https://api.github.com") }
        var path: String {
            switch self {
            case .repository(let name): "repos/\(name)"
            case .search: "search/repositories"
            case .createIssue(_, let name): "repos/\(name)/issues"
            }
        }
        var method: HTTPMethod {
            switch self {
            case .createIssue: .post
            default: .get
            }
        }
        var task: RequestTask {
            switch self {
            case .search(let text): .requestQuery(["q": text])
            case .createIssue(let issue, _): .requestJSONEncodable(issue)
            default: .requestPlain
            }
        }
        var validationType: ValidationType { .successCodes }
        var sampleData: Data { Data(#"{"forks": 3}"#.utf8) }  // a repository
    }

    nonisolated struct NewIssue: Encodable { let title: String }
    // end

    static func target(_ userAgent: HeadersPlugin) -> Provider<GitHub> {
        // sample: target call
        let provider = Provider<GitHub>(plugins: [userAgent])
        // end
        return provider
    }

    static func targetCall(_ provider: Provider<GitHub>) async throws {
        // sample: target call
        let repository = try await provider.request(.repository("swiftlang/swift"), as: Repository.self)
        // end
        print(repository.forks, "forks")
    }

    static func responseCall(_ provider: Provider<GitHub>) async throws {
        // sample: response
        let response = try await provider.request(.search("http"))
        print(response.statusCode, response.headers[.contentType] ?? "no type", response.data.count, "bytes")
        // end
    }

    static func caughtCall(_ provider: Provider<GitHub>) async throws {
        // sample: catch
        do {
            let repository = try await provider.request(.repository("swiftlang/none"), as: Repository.self)
            print(repository.forks, "forks")
        } catch let error as PipelineError {
            print(error.code, error.statusCode ?? 0, error.localizedDescription)
        }
        // end
    }

    static func optionsCall(_ provider: Provider<GitHub>) async throws -> Repository {
        // sample: options
        let options = RequestOptions { $0.attemptTimeout = .seconds(5) }
        let name = "swiftlang/swift"
        let repository = try await provider.request(.repository(name), as: Repository.self, options: options)
        // end
        return repository
    }

    static func plugins(_ transport: any Transport) -> Provider<GitHub> {
        // sample: plugins
        func makeProvider(transport: any Transport) -> Provider<GitHub> {
            let userAgent = HeadersPlugin(["User-Agent": "App/1.0"])
            return Provider(transport: transport, plugins: [.standard(logging: .info) { userAgent }])
        }
        // end
        return makeProvider(transport: transport)
    }
}

/// Hides the standard library's `print` in this file, so it has the same parameters.
private func print(_ items: Any..., separator: String = " ", terminator: String = "\n") {
    GettingStartedSamples.output?.add(items.map { "\($0)" }.joined(separator: separator) + terminator)
}
