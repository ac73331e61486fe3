import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

// This module is isolated to the main actor by default, like new apps in Xcode.

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

/// What several enums share, as in the guide AppWithLogin.
nonisolated protocol AppTarget: TargetType, AccessTokenAuthorizable {}

nonisolated extension AppTarget {
    var baseURL: URL { Endpoint.url("https://api.example.com") }
    var validationType: ValidationType { .successCodes }
    var authorizationType: AuthorizationType? { .bearer }
}

enum Invoices: AppTarget {
    case invoice(id: Int)

    var path: String {
        switch self {
        case .invoice(let id): "invoices/\(id)"
        }
    }
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestPlain }
}

/// The layout in the documentation: the cases first, then the conformances in `nonisolated` extensions.
enum SplitAPI {
    case user(name: String)
}

nonisolated extension SplitAPI: TargetType {
    var baseURL: URL { URL(string: "https://api.example.com") ?? URL(filePath: "/") }
    var path: String {
        switch self {
        case .user(let name): "users/\(Endpoint.pathSegment(name))"
        }
    }
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestPlain }
}

nonisolated extension SplitAPI: AccessTokenAuthorizable {
    var authorizationType: AuthorizationType? { .bearer }
}

enum Flavor: RequestOptions.Key { static let defaultValue = "plain" }

enum Seen: PipelineContext.Key { static let defaultValue = 0 }

nonisolated struct Profile: Decodable {
    let name: String
}

nonisolated struct Search: Encodable {
    let text: String
}

struct NewProfile: JSONPayload {
    let name: String
}

enum ProfileController: EndpointController {
    static let endpoint = "profiles"

    static func create(_ profile: NewProfile) -> APIRequest<Profile> {
        request("new", payload: profile).method(.post).query(Search(text: "a"))
    }
}

/// The state of a view, isolated to the main actor and changed by callbacks.
final class ProfileView {
    private(set) var text: [String] = []

    func load(_ api: APIClient, then: @escaping () -> Void) {
        api.call(APIRequest<Profile>("profile"))
            .onRequestStarted { self.text.append("started") }
            .onProgress { self.text.append("\($0)") }
            .onError { self.text.append("\($0.code)") }
            .onNotAuthorized { self.text.append("not authorized") }
            .onSuccess { [weak self] profile in
                self?.text.append(profile.name)
                then()
            }
            .execute()
    }

    func load(_ api: APIClient) async throws {
        let profile = try await api.send(APIRequest<Profile>("profile")) { [weak self] in self?.text.append("\($0)") }
        text.append(profile.name)
    }

    func load(_ provider: Provider<MultiTarget>, then: @escaping () -> Void) {
        provider.request(
            AppAPI.profile,
            progress: { self.text.append("\($0.progress)") },
            completion: { result in
                self.text.append("\((try? result.get())?.statusCode ?? 0)")
                provider.request(AppAPI.profile) { result in
                    self.text.append((try? result.get().map(Profile.self))?.name ?? "none")
                    then()
                }
            }
        )
    }
}

@Suite("A module isolated to the main actor", .watched)
struct AppIsolationTests {
    @Test("Targets get their token, options and values reach plugins, and models decode")
    func everythingArrives() async throws {
        let transport = ScriptedTransport(always: .status(200, body: #"{"name": "Ada"}"#))
        let provider = Provider<MultiTarget>(
            transport: transport,
            plugins: [
                AccessTokenPlugin { _ in "token" },
                .prepare { request, context in
                    context.update(Seen.self) { $0 = 1 }
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

    @Test("A target whose conformance is in an extension is sent, directly and as a MultiTarget")
    func splitTarget() async throws {
        let transport = ScriptedTransport(always: .status(200, body: #"{"name": "Ada"}"#))
        let token = AccessTokenPlugin { _ in "token" }
        _ = try await Provider<SplitAPI>(transport: transport, plugins: [token]).request(.user(name: "a/b"))
        _ = try await Provider<MultiTarget>(transport: transport, plugins: [token]).request(SplitAPI.user(name: "c"))
        #expect(transport.sent.map(\.head.path) == ["/users/a%2Fb", "/users/c"])
        #expect(transport.sent.allSatisfy { $0.headers[.authorization] == "Bearer token" })
    }

    @Test("An enum has the server and the token of a protocol of the app")
    func sharedProtocol() async throws {
        let transport = ScriptedTransport(always: .status(200, body: #"{"name": "Ada"}"#))
        let token = AccessTokenPlugin(scope: .hosts(["api.example.com"])) { _ in "token" }
        let provider = Provider<MultiTarget>(transport: transport, plugins: [token])
        #expect(try await provider.request(Invoices.invoice(id: 7), as: Profile.self).name == "Ada")
        #expect(transport.sent.first?.url?.absoluteString == "https://api.example.com/invoices/7")
        #expect(transport.sent.first?.headers[.authorization] == "Bearer token")
        #expect(provider.explain().findings.isEmpty)
    }

    @Test("Controllers create requests with payloads and queries")
    func controllers() async throws {
        let transport = ScriptedTransport(always: .status(200, body: #"{"name": "Ada"}"#))
        let api = APIClient(Provider(transport: transport), server: ServerURL(base: "https://api.example.com"))
        #expect(try await api.send(ProfileController.create(NewProfile(name: "Ada"))).name == "Ada")
        #expect(transport.sent.first?.head.path == "/profiles/new?text=a")
        #expect(transport.sent.first?.body.bytes == Data(#"{"name":"Ada"}"#.utf8))
    }

    @Test("Callbacks in a view change its state on the main actor")
    func callbacks() async throws {
        let transport = ScriptedTransport(always: .status(200, body: #"{"name": "Ada"}"#))
        let provider = Provider<MultiTarget>(transport: transport)
        let api = APIClient(provider, server: ServerURL(base: "https://api.example.com"))
        let view = ProfileView()
        await withCheckedContinuation { ended in view.load(api) { ended.resume() } }
        #expect(view.text == ["started", "1.0", "Ada"])

        let other = ProfileView()
        await withCheckedContinuation { ended in other.load(provider) { ended.resume() } }
        #expect(other.text.last == "Ada" && other.text.contains("200") && other.text.contains("1.0"))

        let awaiting = ProfileView()
        try await awaiting.load(api)
        #expect(awaiting.text == ["1.0", "Ada"])
    }
}
