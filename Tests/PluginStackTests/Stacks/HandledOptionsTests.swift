import Foundation
import Pipeline
import PipelineAPI
import PipelineAuth
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Options and the plugins that handle them", .watched)
struct HandledOptionsTests {
    /// An option with the plugins that handle it.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let plugin: String
        let request: APIRequest<IgnoredBody>
        let handlers: [any PluginType]

        var testDescription: String { name }

        init(
            _ name: String,
            _ plugin: String,
            _ handlers: [any PluginType],
            _ modify: (APIRequest<IgnoredBody>) -> APIRequest<IgnoredBody>
        ) {
            self.name = name
            self.plugin = plugin
            self.handlers = handlers
            request = modify(Self.plain)
        }

        static let plain = APIRequest<IgnoredBody>("b").serverURL(ServerURL(base: "https://a.test"))
    }

    static let cases: [Case] = [
        Case("retry", "RetryPlugin", [RetryPlugin()]) { $0.retry(on: [.serviceUnavailable]) },
        Case("retry", "RetryPlugin", [RetryPlugin()]) { $0.options { $0.retry = .init(backoff: .immediate) } },
        Case("idempotencyKey", "RetryPlugin", [RetryPlugin()]) { $0.options { $0.idempotencyKey = .generated } },
        Case("minimumDuration", "MinimumDurationPlugin", [MinimumDurationPlugin(.zero)]) {
            $0.additionalTimeout(.nanoseconds(1))
        },
        Case("totalTimeout", "TimeoutPlugin", [TimeoutPlugin(idle: .seconds(9))]) {
            $0.options { $0.totalTimeout = .seconds(60) }
        },
        Case("basicAuth", "BasicAuthPlugin", [BasicAuthPlugin()]) {
            $0.options { $0.basicAuth = PasswordCredential(username: "ann", password: "hunter2") }
        },
        Case("authorized()", "AccessTokenPlugin or TokenRefreshPlugin", [AccessTokenPlugin { _ in "t" }, refresh]) {
            $0.authorized()
        },
        Case("deduplication", "DeduplicationPlugin", [DeduplicationPlugin()]) { $0.options { $0.deduplication = .on } },
        Case("hedging", "HedgingPlugin", [HedgingPlugin(after: .never)]) {
            $0.options { $0.hedging = .fixed(.seconds(1)) }
        },
        Case("requestID", "RequestIDPlugin", [RequestIDPlugin()]) { $0.options { $0.requestID = "7" } },
        Case("requestCompression", "GzipPlugin", [GzipPlugin()]) { $0.options { $0.requestCompression = .always } },
        Case("logLevel", "LoggingPlugin", [LoggingPlugin(level: .off)]) { $0.options { $0.logLevel = .error } },
    ]

    private static var refresh: any PluginType {
        TokenRefreshPlugin(credential: Token()) { _, _ in nil }
    }

    @Test("A provider without the plugin warns once, or fails if its policy says so", arguments: cases)
    func unhandled(test: Case) async throws {
        let messages = Mutex<[String]>([])
        let transport = ScriptedTransport(always: .status(200))
        let warning = Provider<MultiTarget>(
            transport: transport,
            configuration: .init(unhandledOptions: .warn { message in messages.withLock { $0.append(message) } })
        )
        for _ in 0..<2 { _ = try await APIClient(warning).send(test.request) }
        let text =
            "the option \(test.name) has no effect because no plugin of Provider<MultiTarget> handles it; add \(test.plugin)"
        #expect(messages.withLock { $0.count } == 1)
        #expect(messages.withLock { $0.first?.hasPrefix(text) } == true)
        #expect(transport.sent.count == 2)

        let failing = Provider<MultiTarget>(transport: transport, configuration: .init(unhandledOptions: .fail))
        let error = try await #require(throws: PipelineError.self) {
            _ = try await APIClient(failing).send(test.request)
        }
        #expect(error.code == .invalidRequest(.option))
        #expect(error.reason.hasPrefix(text))
        #expect(transport.sent.count == 2)
    }

    @Test("Any one plugin that handles an option is enough", arguments: cases)
    func handled(test: Case) async throws {
        for plugin in test.handlers {
            let transport = ScriptedTransport(always: .status(200))
            let provider = Provider<MultiTarget>(
                transport: transport,
                plugins: [plugin],
                configuration: .init(unhandledOptions: .fail)
            )
            _ = try await APIClient(provider).send(test.request)
            #expect(transport.sent.count == 1)
        }
    }

    @Test("The standard stack handles all options except those for credentials, traffic control and minimumDuration")
    func standard() async throws {
        let provider = Provider<MultiTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [.standard(logging: .off)],
            configuration: .init(unhandledOptions: .fail)
        )
        let others = ["basicAuth", "authorized()", "hedging", "priority", "cost", "minimumDuration"]
        for test in Self.cases where !others.contains(test.name) {
            _ = try await APIClient(provider).send(test.request)
        }
    }

    @Test("Values that ask a plugin for nothing need no plugin")
    func askingForNothing() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<MultiTarget>(transport: transport, configuration: .init(unhandledOptions: .fail))
        let request = Case.plain.additionalTimeout(.zero).avoidLogError().authorized().authorized(nil)
            .retry(on: [.serviceUnavailable], attempts: 0).attemptTimeout(.seconds(5))
            .basicAuth(username: "ann", password: "hunter2")
            .options {
                $0.avoidLogError = true
                $0.idempotencyKey = nil
                $0.totalTimeout = nil
                $0.basicAuth = nil
                $0.deduplication = .off
                $0.requestID = nil
                $0.requestCompression = .never
                $0.logLevel = .off
                $0.isTokenRequest = true
                $0.idleTimeout = .seconds(5)
            }
        _ = try await APIClient(provider).send(request)
        _ = try await APIClient(provider).send(request.options { $0.retry = .never })
        _ = try await APIClient(provider).send(request.options { $0.retry = .init() })
        #expect(transport.sent.count == 3)
    }

    @Test("A plugin of your own can handle the option of another plugin")
    func ownPlugin() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<MultiTarget>(
            transport: transport,
            plugins: [OwnLogin()],
            configuration: .init(unhandledOptions: .fail)
        )
        _ = try await APIClient(provider).send(Case.plain.authorized())
        #expect(transport.sent.first?.headers[.authorization] == "Bearer own")
    }
}

private struct Token: TokenCredential {
    let accessToken = "t"
    let expiry: Date? = nil
}

private struct OwnLogin: Stage.Prepare, OptionHandling {
    var handledOptions: [RequestOptions.PluginOption] { [.authorized] }

    func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        try request.setHeader("Bearer own", for: .authorization, isSecret: true)
    }
}
