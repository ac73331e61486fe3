import Pipeline
import PipelineCaching
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("AccessTokenPlugin: the session of a token", .watched)
struct AccessTokenSessionTests {
    private let clock = ManualClock()
    private let login = Login()

    /// Who is logged in.
    private final class Login: Sendable {
        private let state = Mutex<String?>("alice")

        var user: String? {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    private func provider(_ transport: ScriptedTransport, _ plugins: [any PluginType]) -> Provider<Ask> {
        Provider(transport: transport, plugins: plugins, configuration: .init(clock: clock))
    }

    private var plugin: AccessTokenPlugin {
        .sessions { [login] _ in login.user.map { SessionToken("tokenof\($0)", session: $0) } }
    }

    @Test("G05: a retry after a change of user is not sent as the later user", arguments: ["bob", nil] as [String?])
    func retried(next: String?) async throws {
        let transport = ScriptedTransport([.status(503), .status(200)])
        let provider = provider(transport, [RetryPlugin(backoff: .constant(.seconds(1))), plugin])
        let call = Task { try await provider.request(Ask(authorizationType: .bearer)) }
        try await transport.waitForRequests(1)
        await eventually { clock.sleeperCount > 0 }
        login.user = next
        clock.advance(by: .seconds(1))
        let error = await #expect(throws: PipelineError.self) { _ = try await call.value }
        #expect(error?.code == .sessionEnded)
        #expect(transport.sent.map { $0.headers[.authorization] } == ["Bearer tokenofalice"])
    }

    /// Responds with the user of the token after a second.
    private func users(_ fields: HTTPFields = [:], failsFrom limit: Int = .max) -> ScriptedTransport {
        ScriptedTransport { request, index in
            let user = request.headers[.authorization]?.split(separator: "tokenof").last.map(String.init) ?? "none"
            return .delayed(.seconds(1), index < limit ? .status(200, headers: fields, body: user) : .status(503))
        }
    }

    private func text(_ provider: Provider<Ask>) async throws -> String {
        try await provider.request(Ask(authorizationType: .bearer)).mapString()
    }

    @Test("G05: after a change of user, the copy of a hedged request is not sent as the later user")
    func hedged() async throws {
        let transport = users()
        let provider = provider(transport, [HedgingPlugin(after: .fixed(.milliseconds(500))), plugin])
        try await clock.run {
            async let answer = text(provider)
            try await clock.sleep(for: .milliseconds(100))
            login.user = "bob"
            #expect(try await answer == "alice")
        }
        #expect(transport.sent.map { $0.headers[.authorization] } == ["Bearer tokenofalice"])
    }

    @Test("G05: a request in the background for a stale response is sent as the earlier user, and stored for that user")
    func revalidated() async throws {
        let transport = users([.cacheControl: "max-age=10, stale-while-revalidate=600"])
        let provider = provider(transport, [plugin, CachePlugin()])
        try await clock.run {
            #expect(try await text(provider) == "alice")
            try await clock.sleep(for: .seconds(60))
            #expect(try await text(provider) == "alice")
            login.user = "bob"
            #expect(try await text(provider) == "bob")
            try await clock.sleep(for: .seconds(1))
            #expect(try await text(provider) == "bob")
            login.user = "alice"
            #expect(try await text(provider) == "alice")
        }
        // The request in the background is sent after the change of user.
        #expect(transport.sent.map { $0.headers[.authorization]?.last } == ["e", "b", "e"])
    }

    @Test("G05: a call whose user has changed does not fall back to the stored response of the later user")
    func fallenBack() async throws {
        let transport = users([.cacheControl: "max-age=10, stale-if-error=600"], failsFrom: 2)
        let provider = provider(transport, [StaleFallbackPlugin(), plugin, CachePlugin()])
        try await clock.run {
            for user in ["bob", "alice"] {
                login.user = user
                #expect(try await text(provider) == user)
            }
            try await clock.sleep(for: .seconds(60))
            #expect(try await text(provider) == "alice")
            async let answer = provider.request(Ask(authorizationType: .bearer))
            try await clock.sleep(for: .milliseconds(100))
            login.user = "bob"
            #expect(try await answer.statusCode == 503)
        }
    }

    @Test("G05: without a change, and in a later call, the token of the present session is sent")
    func unchanged() async throws {
        let transport = ScriptedTransport([.status(503), .status(200), .status(200)])
        let provider = provider(transport, [RetryPlugin(backoff: .immediate), plugin])
        _ = try await provider.request(Ask(authorizationType: .bearer))
        login.user = "bob"
        _ = try await provider.request(Ask(authorizationType: .bearer))
        let tokens = ["alice", "alice", "bob"].map { "Bearer tokenof\($0)" }
        #expect(transport.sent.map { $0.headers[.authorization] } == tokens)
    }

    @Test("A token with its session shows neither in a description or a dump")
    func described() {
        var dumped = ""
        dump(SessionToken("canary", session: "canary"), to: &dumped)
        #expect(!"\(SessionToken("canary", session: "canary")) \(dumped)".contains("canary"))
    }
}
