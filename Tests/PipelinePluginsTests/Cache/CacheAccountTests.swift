import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineStores
import PipelineTesting
import Synchronization
import Testing

@Suite("Rule 20: CachePlugin shares no response between two accounts")
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
            context.addIdentity(user.value)
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
