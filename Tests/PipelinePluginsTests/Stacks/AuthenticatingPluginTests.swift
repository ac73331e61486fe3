import Pipeline
import PipelinePlugins
import PipelineTesting
import Testing

@Suite("AuthenticatingPlugin, and other findings between plugins")
struct AuthenticatingPluginTests {
    private struct Signing: AuthenticatingPlugin, Stage.Prepare {
        func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {}
    }

    private static let authenticating: [any PluginType] = [
        AccessTokenPlugin { _ in "token" },
        BasicAuthPlugin(username: "user", password: "password"),
        CredentialsPlugin { _, _ in nil },
        TokenRefreshPlugin(credential: Session(accessToken: "token")) { credential, _ in credential },
        Signing(),
    ]

    private func findings(_ plugins: [any PluginType]) -> [String] {
        let provider = Provider<Ask>(transport: ScriptedTransport(always: .status(200)), plugins: plugins)
        return provider.explain().findings.map(\.message)
    }

    @Test(
        "Whatever sets credentials stands wrongly inside DeduplicationPlugin, one's own plugin too",
        arguments: authenticating
    )
    func sharing(plugin: any PluginType) {
        let message = "DeduplicationPlugin stands outside \(plugin.name): two users could share one answer"
        let found = findings([DeduplicationPlugin(), plugin])
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix(message) == true)
        #expect(findings([plugin, DeduplicationPlugin()]) == [])
    }

    @Test(
        "Whatever sets credentials stands wrongly outside RetryPlugin, one's own plugin too",
        arguments: authenticating
    )
    func retrying(plugin: any PluginType) {
        let message =
            "RetryPlugin stands inside \(plugin.name): every attempt is sent with the credentials of the first"
        let found = findings([plugin, RetryPlugin()])
        #expect(found.count == 1)
        #expect(found.first?.hasPrefix(message) == true)
        #expect(findings([RetryPlugin(), plugin]) == [])
    }

    @Test("What serves each caller stands wrongly inside DeduplicationPlugin")
    func servingEach() {
        let plugins: [any PluginType] = [
            HeadersPlugin(["A": "b"]), MinimumDurationPlugin(.zero), UnauthorizedPlugin { _, _ in },
        ]
        for plugin in plugins {
            let found = findings([DeduplicationPlugin(), plugin])
            #expect(found.count == 1)
            #expect(found.first?.hasPrefix("DeduplicationPlugin stands outside \(plugin.name): ") == true)
            #expect(findings([plugin, DeduplicationPlugin()]) == [])
        }
    }

    @Test("UnauthorizedPlugin stands wrongly inside a plugin that answers a 401")
    func unauthorized() {
        for plugin in [Self.authenticating[2], Self.authenticating[3]] {
            let found = findings([plugin, UnauthorizedPlugin { _, _ in }])
            #expect(found.count == 1)
            #expect(
                found.first?.hasPrefix("UnauthorizedPlugin stands inside \(plugin.name): it is told of every 401")
                    == true
            )
            #expect(findings([UnauthorizedPlugin { _, _ in }, plugin]) == [])
        }
    }
}
