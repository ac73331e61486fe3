import HTTPTypes
import Pipeline
import PipelinePlugins
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
