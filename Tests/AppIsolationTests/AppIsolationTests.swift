import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineTesting
import Testing

// This module is isolated to the main actor by default, as Xcode makes apps.

enum AppAPI: TargetType {
    case profile

    var baseURL: URL { URL(string: "https://api.example.com") ?? URL(filePath: "/") }
    var path: String { "profile" }
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestPlain }
}

extension AppAPI: AccessTokenAuthorizable {
    var authorizationType: AuthorizationType? { .bearer }
}

enum Flavor: RequestOptionKey { static let defaultValue = "plain" }

enum Seen: PipelineContextKey { static let defaultValue = 0 }

nonisolated struct Profile: Decodable {
    let name: String
}

@Suite("A module that is isolated to the main actor")
struct AppIsolationTests {
    @Test("Its targets are given their token, its options and values arrive, and its models decode")
    func everythingArrives() async throws {
        let transport = ScriptedTransport(always: .status(200, body: #"{"name": "Ada"}"#))
        let provider = Provider<MultiTarget>(
            transport: transport,
            plugins: [
                AccessTokenPlugin { _ in "token" },
                .prepare { request, context in
                    context[Seen.self] = 1
                    request.headers[.userAgent] = context.options[Flavor.self]
                },
            ]
        )
        let options = RequestOptions { $0[Flavor.self] = "sweet" }
        let profile = try await provider.request(AppAPI.profile, as: Profile.self, options: options)
        #expect(profile.name == "Ada")
        #expect(transport.sent.first?.headers[.authorization] == "Bearer token")
        #expect(transport.sent.first?.headers[.userAgent] == "sweet")
    }
}
