import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// The samples of the guide LoggingAndSecrets.
enum LoggingSamples {
    typealias Shop = TargetsSamples.Shop

    static func provider(
        _ transport: any Transport,
        print: @escaping @Sendable (String) -> Void
    ) -> Provider<Shop> {
        // sample: handler
        let provider = Provider<Shop>(
            transport: transport,
            plugins: [LoggingPlugin(level: .info) { level, line in print("[\(level)] \(line)") }]
        )
        // end
        return provider
    }

    static func level(_ provider: Provider<Shop>) async throws {
        _ = try await provider.request(.item(id: 7), options: .init { $0.logLevel = .trace })
    }

    static func formatter(print: @escaping @Sendable (String) -> Void) -> LoggingPlugin {
        // sample: formatter
        let logging = LoggingPlugin(
            handler: { _, line in print(line) },
            formatter: { $0.kind == .response ? "\($0.statusCode ?? 0) in \($0.duration ?? .zero): \($0.url)" : nil }
        )
        // end
        return logging
    }

    static func logIn(_ client: Provider<URLTarget>) async throws {
        let login = ["email": "ann@example.com", "password": "correct horse"]
        try await client.send(login, to: "https://api.shop.example/v1/login?locale=de")
    }

    static func marks() -> [any PluginType] {
        // sample: mark
        let tenant = HeadersPlugin(["X-Tenant": "acme-4711"], secret: ["X-Tenant"])
        let proof = PluginStack.prepare(name: "proof") { request, _ in
            try request.setHeader("7d1f0c2e9a", for: "X-Proof", isSecret: true)
        }
        // end
        return [tenant, proof]
    }

    static func redactor(apiKey: String) -> (Redactor, LoggingPlugin) {
        // sample: redactor
        let secretNames = Redactor.standardSecretNames.union(["email"])
        let redactor = Redactor(shownQueryNames: ["page"], secretNames: secretNames, secretValues: [apiKey])
        let logging = LoggingPlugin(level: .debug, redactor: redactor)
        // end
        return (redactor, logging)
    }
}

@Suite("The samples of the guide LoggingAndSecrets", .watched)
struct LoggingSamplesTests {
    private typealias Shop = LoggingSamples.Shop

    private let clock = ManualClock()
    private let output = Output()

    /// Adds a line and its level to the output.
    private var handler: @Sendable (LoggingPlugin.Level, String) -> Void {
        { [output] level, line in output.add("[\(level)] \(line)\n") }
    }

    private var page: String {
        get throws {
            let page = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../Documentation/LoggingAndSecrets.md")
            return try String(contentsOf: page, encoding: .utf8)
        }
    }

    /// A transport that responds after 12 ms.
    private func transport(_ code: Int = 200, headers: HTTPFields = [:], body: String = "[]") -> ScriptedTransport {
        ScriptedTransport(always: .delayed(.milliseconds(12), .status(code, headers: headers, body: body)))
    }

    /// Searches for lamps and returns the lines that were written.
    private func search(_ transport: ScriptedTransport, _ plugins: [any PluginType]) async throws -> String {
        let provider = Provider<Shop>(transport: transport, plugins: plugins, configuration: .init(clock: clock))
        let call = Task { try await provider.request(.search(text: "lamp")) }
        try await clock.advanceToNextSleeper()
        _ = try? await call.value
        return output.text
    }

    /// Returns whether the page shows an output, without its last line break, as a block.
    private func shows(_ text: String) throws -> Bool {
        try Markdown(page).blocks(in: "text").contains { $0 + "\n" == text }
    }

    @Test("The guide shows the lines of a call at level info")
    func lines() async throws {
        let sample = LoggingSamples.provider(transport()) { [output] in output.add($0 + "\n") }
        let text = try await search(transport(), sample.plugins)
        #expect(try shows(text), "\(text)")
    }

    @Test("The guide shows the line of a summary, of a cURL command and of a failure")
    func forms() async throws {
        _ = try await search(transport(), [LoggingPlugin(level: .info, form: .summary, handler: handler)])
        let command = LoggingPlugin(level: .info, form: .curl, handler: handler)
        _ = try await search(transport(), [command])
        let text = try await search(transport(404), [LoggingPlugin(level: .error, handler: handler)])
        let lines = text.split(separator: "\n").filter { !$0.contains("←") }
        #expect(lines.count == 3)
        for line in lines {
            let shown = line.drop { $0 != "#" }
            #expect(try page.contains("`\(shown)`"), "\(shown)")
        }
    }

    @Test("A call with a level of its own is logged at that level")
    func level() async throws {
        let transport = ScriptedTransport(always: .status(200, body: "[]"))
        let logging = LoggingPlugin(level: .error, handler: handler)
        let provider = Provider<Shop>(transport: transport, plugins: [logging])
        _ = try await provider.request(.item(id: 7))
        #expect(output.text.isEmpty)
        try await LoggingSamples.level(provider)
        #expect(output.text.contains("← body: []"))
    }

    @Test("The guide shows the line that a formatter makes")
    func formatter() async throws {
        let logging = LoggingSamples.formatter { [output] in output.add($0 + "\n") }
        let text = try await search(transport(), [logging])
        #expect(text == "200 in 0.012 seconds: https://api.shop.example/v1/items?q=…\n")
        #expect(try page.contains("`\(text.dropLast())`"))
    }

    @Test("The guide shows what is hidden in the log of a login")
    func logIn() async throws {
        let transport = transport(
            headers: [.setCookie: "id=38af9c21e4"],
            body: #"{"name":"Ann","token":"4f8a1b2c9d"}"#
        )
        let client = Provider<URLTarget>(
            transport: transport,
            plugins: [LoggingPlugin(level: .trace, handler: handler)],
            configuration: .init(clock: clock)
        )
        let call = Task { try await LoggingSamples.logIn(client) }
        try await clock.advanceToNextSleeper()
        try await call.value
        #expect(try shows(output.text), "\(output.text)")
    }

    @Test("The values of marked fields are hidden wherever they occur")
    func marks() async throws {
        let body = "for acme-4711: 7d1f0c2e9a"
        let logging = LoggingPlugin(level: .trace, handler: handler)
        let transport = transport(body: body)
        let text = try await search(transport, [logging] + LoggingSamples.marks())
        #expect(text.contains("\n    X-Tenant: …\n"))
        #expect(text.contains("\n    X-Proof: …\n"))
        #expect(text.contains("← body: for …"))
        #expect(!text.contains("acme-4711") && !text.contains("7d1f0c2e9a"))
        let names = try ["X-Tenant", "X-Proof"].map { try #require(HTTPField.Name($0)) }
        #expect(names.allSatisfy { transport.sent.first?.isSecret($0) == true })
    }

    @Test("The redactor shows and hides what it was made for")
    func redactor() {
        let (redactor, _) = LoggingSamples.redactor(apiKey: "38af9c21e4")
        let url = redactor.url("https://api.shop.example/v1/38af9c21e4/items?page=2&q=lamp")
        #expect(url == "https://api.shop.example/v1/…/items?page=2&q=…")
        let body = Data(#"{"name":"Ann","userEmail":"ann@example.com"}"#.utf8)
        let text = redactor.bodyText(body, contentType: "application/json", limit: 1_000)
        #expect(text == #"{"name":"Ann","userEmail":"…"}"#)
    }

    // MARK: A sample that is a test

    @Test("The log of a login contains neither the password nor the token")
    func noSecret() async throws {
        // sample: assert
        let lines = Mutex("")  // import Synchronization
        let logging = LoggingPlugin(level: .trace) { _, line in lines.withLock { $0 += line + "\n" } }
        let transport = ScriptedTransport([.status(200, body: #"{"token": "4f8a1b2c9d"}"#)])
        let client = Provider<URLTarget>(transport: transport, plugins: [logging])
        try await client.send(["password": "correct horse"], to: "https://api.shop.example/v1/login")
        let log = lines.withLock { $0 }
        let secrets = Redactor(secretValues: ["correct horse", "4f8a1b2c9d"])
        #expect(log.contains("POST https://api.shop.example/v1/login"))
        #expect(!secrets.containsSecret(in: log.utf8))
        // end
    }

    @Test("The same check finds secrets that are logged, also in another encoding")
    func secret() async throws {
        let transport = ScriptedTransport(always: .status(200, body: #"{"token": "4f8a1b2c9d"}"#))
        let logging = LoggingPlugin(level: .trace, redactor: .revealingSecrets, handler: handler)
        let client = Provider<URLTarget>(transport: transport, plugins: [logging])
        try await client.send(["password": "correct horse"], to: "https://api.shop.example/v1/login")
        for secret in ["correct horse", "4f8a1b2c9d"] {
            let secrets = Redactor(secretValues: [secret])
            #expect(secrets.containsSecret(in: output.text.utf8))
            #expect(secrets.containsSecret(in: Data(secret.utf8).base64EncodedString().utf8))
        }
    }
}
