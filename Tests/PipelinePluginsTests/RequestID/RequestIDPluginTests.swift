import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("RequestIDPlugin", .tags(.concurrent), .realTime, .watched)
struct RequestIDPluginTests {
    private let transport = ScriptedTransport(always: .status(200))

    private func provider(
        _ plugins: any PluginType...,
        transport: (any Transport)? = nil,
        seed: UInt64 = 1
    ) -> Provider<Ask> {
        Provider(transport: transport ?? self.transport, plugins: plugins, configuration: .init(random: .seeded(seed)))
    }

    @Test("The plugin passes the conformance suite")
    func conformance() async {
        let violations = await PluginConformance { RequestIDPlugin() }.run()
        #expect(violations == [])
    }

    // MARK: Effects

    @Test("Each call is sent with its own lowercase version 4 UUID from the provider's random generator")
    func uuid() async throws {
        var sequences: [[String?]] = []
        for seed in [7, 7, 8] as [UInt64] {
            let transport = ScriptedTransport(always: .status(200))
            let provider = provider(RequestIDPlugin(), transport: transport, seed: seed)
            for _ in 1...200 { _ = try await provider.request(Ask()) }
            sequences.append(transport.sent.map { $0.headers[RequestIDPlugin.standardField] })
        }
        #expect(sequences[0] == sequences[1])
        #expect(Set(sequences[0] + sequences[2]).count == 400)
        for id in sequences[0] {
            let id = try #require(id)
            #expect(id.wholeMatch(of: /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/) != nil)
        }
    }

    @Test(
        "The id stays the same for all attempts and redirects, inside and outside a plugin that retries",
        arguments: [true, false]
    )
    func attempts(isInside: Bool) async throws {
        let transport = ScriptedTransport([
            .status(302, headers: [.location: "https://b.test/"]), .status(500), .status(503), .status(200),
        ])
        let id = RequestIDPlugin()
        let again = PluginStack.sendingAgain(3)
        let provider =
            isInside ? provider(again, id, transport: transport) : provider(id, again, transport: transport)
        _ = try await provider.request(Ask())
        let ids = transport.sent.map { $0.headers[values: RequestIDPlugin.standardField] }
        #expect(ids.count == 4)
        #expect(Set(ids).count == 1)
        #expect(ids[0].count == 1)
    }

    private enum Incoming {
        @TaskLocal static var id: String?
    }

    @Test("A closure gives the id of each call, in the task of the call; the option of a call takes precedence")
    func closure() async throws {
        let provider = provider(RequestIDPlugin { Incoming.id })
        try await Incoming.$id.withValue("order-7") {
            _ = try await provider.request(Ask())
            _ = try await provider.request(Ask(), options: RequestOptions { $0.requestID = "own" })
        }
        #expect(transport.sent.map { $0.headers[RequestIDPlugin.standardField] } == ["order-7", "own"])
    }

    @Test(
        "Without an id, or with one that cannot be sent, a random one is sent",
        arguments: [nil, "", "a b", "ü", "a\r\nb: c"]
    )
    func unusable(id: String?) async throws {
        let provider = provider(RequestIDPlugin { id })
        _ = try await provider.request(Ask())
        #expect(transport.sent.first?.headers[RequestIDPlugin.standardField]?.count == 36)
    }

    @Test("An existing field is untouched, and its value is the id")
    func present() async throws {
        let seen = Mutex<[String?]>([])
        let spy = PluginStack.willSend { _, context in seen.withLock { $0.append(context.requestID) } }
        let options = RequestOptions { $0.requestID = "option" }
        _ = try await provider(RequestIDPlugin(), spy).request(Ask(headers: ["x-request-id": "own"]), options: options)
        #expect(transport.sent.first?.headers[values: RequestIDPlugin.standardField] == ["own"])
        #expect(seen.withLock { $0 } == ["own"])
    }

    @Test("Once the plugin has run, every part of the call reads the id that was sent; before, there is none")
    func context() async throws {
        let seen = Mutex<[String?]>([])
        @Sendable func note(_ context: PipelineContext) { seen.withLock { $0.append(context.requestID) } }
        let provider = provider(
            .process { _, context in note(context) },
            .prepare { _, context in note(context) },
            RequestIDPlugin(),
            .prepare { _, context in note(context) },
            .didReceive { _, context in note(context) }
        )
        _ = try await provider.request(Ask())
        let id = try #require(transport.sent.first?.headers[RequestIDPlugin.standardField])
        #expect(seen.withLock { $0 } == [nil, id, id, id])
    }

    @Test("The name of the field can be set, and two fields carry the same id")
    func names() async throws {
        let name = try #require(HTTPField.Name("X-Correlation-Id"))
        _ = try await provider(RequestIDPlugin(field: name), RequestIDPlugin()).request(Ask())
        let headers = try #require(transport.sent.first?.headers)
        #expect(headers[name] != nil)
        #expect(headers[name] == headers[RequestIDPlugin.standardField])
        _ = try await provider(RequestIDPlugin(field: name)).request(Ask())
        #expect(transport.sent.last?.headers[RequestIDPlugin.standardField] == nil)
    }

    @Test("The option sets the id of a call", arguments: ["order-17", "!", String(repeating: "~", count: 255)])
    func option(id: String) async throws {
        _ = try await provider(RequestIDPlugin()).request(Ask(), options: .init { $0.requestID = id })
        #expect(transport.sent.first?.headers[values: RequestIDPlugin.standardField] == [id])
    }

    // MARK: Errors and secrets

    @Test(
        "An id of the option that cannot be sent fails the call before it is sent, and the error does not show it",
        arguments: [
            "", "canary canary", "canary\r\nX-Evil: 1", "canary\n", "canary\u{0}", "canaré",
            "canary" + String(repeating: "x", count: 250),
        ]
    )
    func refused(id: String) async {
        let provider = provider(RequestIDPlugin())
        let call = Task { try await provider.request(Ask(), options: .init { $0.requestID = id }) }
        let error = await call.pipelineError
        #expect(error?.code == .invalidRequest(.headerValue))
        #expect(error.map { "\($0)".contains("canar") } == false)
        #expect(transport.sent.isEmpty)
    }

    @Test("The field is not marked as a secret")
    func notSecret() async throws {
        _ = try await provider(RequestIDPlugin()).request(Ask())
        #expect(transport.sent.first?.secretFields.isEmpty == true)
    }

    @Test("Over loopback HTTP the server gets the id")
    func loopback() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        defer { server.stop() }
        let provider = provider(RequestIDPlugin(), transport: URLSessionTransport())
        _ = try await provider.request(Ask(url: "\(server.url)"), options: .init { $0.requestID = "order-17" })
        #expect(server.requests.first?.values(of: "X-Request-Id") == ["order-17"])
    }
}
