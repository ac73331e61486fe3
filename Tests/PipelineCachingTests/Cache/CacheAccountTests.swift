import Foundation
import Pipeline
import PipelineAuth
import PipelineCaching
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Rule 20: CachePlugin shares no response between two accounts", .watched)
struct CacheAccountTests {
    /// A way to set the credential of an account.
    struct Way: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let ask: @Sendable (String) -> Ask
        let plugins: @Sendable (CurrentUser) -> [any PluginType]

        init(
            _ description: String,
            ask: @escaping @Sendable (String) -> Ask = { _ in Ask() },
            plugins: @escaping @Sendable (CurrentUser) -> [any PluginType] = { _ in [] }
        ) {
            testDescription = description
            self.ask = ask
            self.plugins = plugins
        }
    }

    struct Signer: Stage.Prepare, Stage.Exchange {
        let user: CurrentUser

        func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
            context.addIdentity(user.value, of: .authorization)
        }

        func exchange(
            _ request: PipelineRequest,
            context: PipelineContext,
            send: Stage.Send
        ) async throws -> PipelineResponse {
            var request = request
            try request.setHeader(user.value, for: .authorization)
            return try await send(request)
        }
    }

    static let ways: [Way] = [
        Way("the target sets Authorization", ask: { Ask(headers: ["Authorization": $0]) }),
        Way("the target sets Cookie", ask: { Ask(headers: ["Cookie": "id=\($0)"]) }),
        Way(
            "a prepare stage marks a field as secret",
            plugins: { user in
                [
                    .prepare(name: "key") { request, _ in
                        try request.setHeader(user.value, for: "X-Key", isSecret: true)
                    }
                ]
            }
        ),
        Way(
            "AccessTokenPlugin",
            ask: { _ in Ask(authorizationType: .bearer) },
            plugins: { user in [AccessTokenPlugin { _ in user.value }] }
        ),
        Way(
            "BasicAuthPlugin",
            plugins: { user in
                [BasicAuthPlugin { _ in PasswordCredential(username: user.value, password: "p") }]
            }
        ),
        Way(
            "HeadersPlugin",
            plugins: { user in [HeadersPlugin(secret: ["X-Key"]) { _ in ["X-Key": user.value] }] }
        ),
        Way("the query of the target", ask: { Ask(url: "https://a.test/b?key=\($0)", path: "") }),
        Way("CookiePlugin with accounts", plugins: { user in [CookiePlugin(account: { _ in user.value })] }),
        Way("an exchange plugin inside with an identity", plugins: { user in [Signer(user: user)] }),
        Way(
            "the account of the cache",
            plugins: { user in
                [CachePlugin(account: { _ in user.value })]
            }
        ),
    ]

    @Test("Two accounts with equal calls get their own responses", arguments: ways)
    func accounts(_ way: Way) async throws {
        let user = CurrentUser("")
        let clock = ManualClock()
        let transport = ScriptedTransport { _, index in
            .status(200, headers: CacheBench.control("max-age=60"), body: "\(index)")
        }
        let plugins = way.plugins(user)
        let cache: [any PluginType] = plugins.contains { $0 is CachePlugin } ? [] : [CachePlugin()]
        let provider = Provider<Ask>(
            transport: transport,
            plugins: plugins + cache,
            configuration: .init(clock: clock)
        )
        var bodies: [String] = []
        for name in ["anna", "ben", "anna", "ben"] {
            user.value = name
            bodies.append(String(decoding: try await provider.request(way.ask(name)).data, as: UTF8.self))
        }
        #expect(bodies == ["0", "1", "0", "1"])
    }

    // MARK: Stages

    /// A place in a stack that sets a field.
    enum Place: CaseIterable {
        case target, prepare, intercept, exchangeOutside, exchangeInside

        func plugins(_ cache: CachePlugin, _ name: HTTPField.Name, _ user: CurrentUser) -> [any PluginType] {
            @Sendable func set(_ request: PipelineRequest) throws -> PipelineRequest {
                var request = request
                try request.setHeader(user.value, for: name, isSecret: true)
                return request
            }
            let exchange: any PluginType = .exchange(name: "set") { try await $2(try set($0)) }
            switch self {
            case .target: return [cache]
            case .prepare: return [.prepare(name: "set") { request, _ in request = try set(request) }, cache]
            case .intercept: return [.intercept(name: "set") { try await $2(try set($0)) }, cache]
            case .exchangeOutside: return [exchange, cache]
            case .exchangeInside: return [cache, exchange]
            }
        }
    }

    @Test(
        "A credential in any field, set at any stage, keeps the responses of two accounts apart",
        arguments: ["Authorization", "Proxy-Authorization", "Cookie", "X-Api-Key"],
        Place.allCases
    )
    func stages(field: String, place: Place) async throws {
        let name = try #require(HTTPField.Name(field))
        let user = CurrentUser("")
        let transport = ScriptedTransport { request, _ in
            .status(200, headers: CacheBench.control("max-age=60"), body: request.headers[name] ?? "nobody")
        }
        let provider = Provider<Ask>(
            transport: transport,
            plugins: place.plugins(CachePlugin(), name, user),
            configuration: .init(clock: ManualClock())
        )
        for value in ["anna", "ben", "anna", "ben"] {
            user.value = value
            let ask = place == .target ? Ask(headers: [field: value]) : Ask()
            #expect(try await provider.request(ask).data == Data(value.utf8))
        }
        // What is set inside is not known to the cache when it looks for a response.
        #expect(transport.sent.count == (place == .exchangeInside ? 4 : 2))
    }

    @Test("Passwords that are asked for inside the cache keep the responses of two accounts apart")
    func credentials() async throws {
        let user = CurrentUser("")
        let credentials = CredentialsPlugin(
            account: { _ in user.value },
            credential: { account, _ in PasswordCredential(username: account, password: "p") }
        )
        let fields = CacheBench.control("max-age=60")
        let transport = ScriptedTransport { request, _ in
            guard let value = request.headers[.authorization] else {
                return .status(401, headers: [.wwwAuthenticate: "Basic realm=\"r\""])
            }
            return .status(200, headers: fields, body: value)
        }
        let bench = CacheBench(transport, inside: [credentials])
        var bodies: [String: Set<String>] = [:]
        for name in ["anna", "ben", "anna", "ben"] {
            user.value = name
            bodies[name, default: []].insert(String(decoding: try await bench.response().data, as: UTF8.self))
        }
        #expect(bodies["anna"]?.count == 1)
        #expect(bodies["ben"]?.count == 1)
        #expect(bodies["anna"] != bodies["ben"])
        #expect(bench.provider.explain().findings.isEmpty, "\(bench.provider.explain())")
    }

    @Test("Users of one tenant do not share a response, if only the tenant is an identity")
    func tenant() async throws {
        let user = CurrentUser("")
        let transport = ScriptedTransport { _, index in
            .status(200, headers: CacheBench.control("max-age=60"), body: "\(index)")
        }
        let token: any PluginType = .exchange(name: "token") { request, _, send in
            var request = request
            try request.setHeader(user.value, for: .authorization)
            return try await send(request)
        }
        let bench = CacheBench(
            transport,
            outside: [CookiePlugin(account: { _ in "tenant" })],
            inside: [token]
        )
        for (index, name) in ["anna", "ben", "anna", "ben"].enumerated() {
            user.value = name
            #expect(try await bench.get() == "\(index) miss")
        }
    }

    @Test("A response to a credential that a plugin inside has replaced is not stored")
    func replaced() async throws {
        let user = CurrentUser("")
        let token: any PluginType = .exchange(name: "token") { request, _, send in
            var request = request
            try request.setHeader(user.value, for: .authorization)
            return try await send(request)
        }
        let bench = CacheBench(CacheBench.control("max-age=60"), inside: [token])
        for (index, name) in ["anna", "ben", "anna"].enumerated() {
            user.value = name
            #expect(try await bench.get(Ask(headers: ["Authorization": "app"])) == "\(index + 1) miss")
        }
    }

    @Test("A background request keeps the account of its call")
    func background() async throws {
        let user = CurrentUser("anna")
        let fields = CacheBench.control("max-age=1, stale-while-revalidate=600")
        let transport = ScriptedTransport { _, index in .status(200, headers: fields, body: "\(index)") }
        let bench = CacheBench(transport, CachePlugin(account: { _ in user.value }))
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(10))
        #expect(try await bench.get() == "0 stale")
        user.value = "ben"
        #expect(await bench.provider.drain(within: .seconds(1)))
        #expect(try await bench.response(Ask(), .offline).statusCode == 504)
        #expect(try await bench.get() == "2 miss")
        user.value = "anna"
        #expect(try await bench.get() == "1 hit")
    }
}

/// The name of the user, which a test changes.
final class CurrentUser: Sendable {
    private let mutex: Mutex<String>

    init(_ value: String) { mutex = Mutex(value) }

    var value: String {
        get { mutex.withLock { $0 } }
        set { mutex.withLock { $0 = newValue } }
    }
}
