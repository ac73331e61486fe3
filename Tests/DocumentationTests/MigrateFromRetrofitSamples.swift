import Foundation
import Pipeline
import PipelineAPI
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// The samples of the guide MigrateFromRetrofit.
enum MigrateFromRetrofitSamples {
    // sample: interface
    enum GitHub {
        struct Repository: Decodable { let name: String }
        struct NewIssue: JSONPayload { let title: String }
        struct Issue: Decodable { let number: Int }

        static func repositories(of user: String, sort: String? = nil) -> APIRequest<[Repository]> {
            APIRequest("users", Endpoint.pathSegment(user), "repos").query(["sort": sort])
        }

        static func create(_ issue: NewIssue, in repository: String) -> APIRequest<Issue> {
            APIRequest("repos", repository, "issues", payload: issue).authorized()
        }
    }
    // end

    static func client(_ transport: any Transport, _ token: String) -> APIClient {
        // sample: client
        let plugins = PluginStack.standard(.resilient, logging: .info) {
            HeadersPlugin(["X-App": "shop/3.1"])
            AccessTokenPlugin { _ in token }
        }
        let api = APIClient(
            Provider(transport: transport, plugins: [plugins]),
            server: ServerURL(base: "https://api.github.com")
        )
        // end
        return api
    }

    static func call(_ api: APIClient) async throws -> [GitHub.Repository] {
        // sample: call
        let repositories = try await api.send(GitHub.repositories(of: "square", sort: "pushed"))
        // end
        return repositories
    }

    static func interceptors(print: @escaping @Sendable (String) -> Void) -> PluginStack {
        // sample: interceptors
        PluginStack {
            PluginStack.intercept(name: "timing") { request, context, next in  // addInterceptor
                let start = context.clock.now
                let response = try await next(request)
                print("\(response.statusCode) after \(start.duration(to: context.clock.now))")
                return response
            }
            PluginStack.exchange(name: "hops") { request, _, send in  // addNetworkInterceptor
                print("to \(request.url?.host() ?? "")")
                return try await send(request)
            }
        }
        // end
    }
}

@Suite("The samples of the guide MigrateFromRetrofit", .watched)
struct MigrateFromRetrofitSamplesTests {
    private typealias Samples = MigrateFromRetrofitSamples

    @Test("The calls send path, query, body, header fields and token")
    func calls() async throws {
        let transport = ScriptedTransport([
            .status(200, body: #"[{"name": "okhttp"}]"#), .status(201, body: #"{"number": 3}"#),
            .status(200, body: "[]"),
        ])
        let api = Samples.client(transport, "t")
        #expect(try await Samples.call(api).map(\.name) == ["okhttp"])
        #expect(try await api.send(Samples.GitHub.create(.init(title: "Bug"), in: "square/okhttp")).number == 3)
        _ = try await api.send(Samples.GitHub.repositories(of: "a/b"))
        #expect(
            transport.sent.map { $0.url?.absoluteString } == [
                "https://api.github.com/users/square/repos?sort=pushed",
                "https://api.github.com/repos/square/okhttp/issues", "https://api.github.com/users/a%2Fb/repos",
            ]
        )
        #expect(transport.sent.map { $0.headers[.authorization] } == [nil, "Bearer t", nil])
        #expect(transport.sent.allSatisfy { $0.header("X-App") == "shop/3.1" })
    }

    @Test("An interceptor at the call level runs once, and one at the hop level runs for each redirect")
    func interceptors() async throws {
        let lines = Mutex<[String]>([])
        let plugins = Samples.interceptors { line in lines.withLock { $0.append(line) } }
        let transport = ScriptedTransport([
            .status(302, headers: [.location: "https://b.example/"]), .status(200),
        ])
        let configuration = ProviderConfiguration(clock: ManualClock())
        let client = Provider<URLTarget>(transport: transport, plugins: [plugins], configuration: configuration)
        _ = try await client.request(URLTarget("https://a.example/"))
        #expect(lines.withLock { $0 } == ["to a.example", "to b.example", "200 after 0.0 seconds"])
    }
}
