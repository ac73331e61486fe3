import Foundation
import InMemoryTracing
import Pipeline
import PipelineTelemetry
import PipelineTesting
import TestSupport
import Testing
import Tracing

@Suite("TracingPlugin: attributes and names of spans", .tags(.concurrent), .watched)
struct SpanTextTests {
    private let tracer = W3CTracer()
    private let clock = ManualClock()

    private var plugin: TracingPlugin { TracingPlugin(tracer: tracer) }

    private var call: FinishedInMemorySpan? { tracer.finished.last { $0.operationName.hasPrefix("Ask") } }
    private var exchanges: [FinishedInMemorySpan] { tracer.finished.filter { $0.kind == .client } }

    private func send(_ ask: Ask = Ask(), to steps: [ScriptedTransport.Step], _ plugins: (any PluginType)...) async {
        let provider = Provider<Ask>(
            transport: ScriptedTransport(steps),
            plugins: plugins,
            configuration: .init(clock: clock)
        )
        _ = try? await provider.request(ask)
    }

    @Test("Without a port, server.port is the scheme's default", arguments: [("http", "80"), ("https", "443")])
    func ports(scheme: String, port: String) async {
        await send(Ask(url: "\(scheme)://a.test"), to: [.status(200)], plugin)
        #expect(exchanges.map { $0.texts["server.port"] } == [port])
        #expect(exchanges.map { $0.texts["url.scheme"] } == [scheme])
    }

    @Test("A method that is not known is _OTHER with the original, and HTTP in the span's name")
    func otherMethod() async {
        await send(Ask(method: HTTPRequest.Method("get") ?? .get), to: [.status(200)], plugin)
        #expect(exchanges.map(\.operationName) == ["HTTP"])
        #expect(exchanges.first?.texts["http.request.method"] == "_OTHER")
        #expect(exchanges.first?.texts["http.request.method_original"] == "get")
        #expect(call?.operationName == "Ask")
    }

    @Test("The known methods replace the default", arguments: ["MINE", "GET"])
    func knownMethods(name: String) async throws {
        let mine = try #require(HTTPRequest.Method("MINE"))
        let ask = Ask(method: try #require(HTTPRequest.Method(name)))
        await send(ask, to: [.status(200)], TracingPlugin(tracer: tracer, knownMethods: [mine]))
        #expect(exchanges.map(\.operationName) == [name == "MINE" ? "MINE" : "HTTP"])
        #expect(exchanges.map { $0.texts["http.request.method_original"] } == [name == "MINE" ? nil : "GET"])
    }

    @Test("The template of the target's path is in the names of both spans, except after a redirect")
    func template() async {
        let ask = Ask(pathTemplate: "/users/{id}")
        await send(ask, to: [.status(302, headers: [.location: "/c"]), .status(200)], plugin)
        #expect(exchanges.map(\.operationName) == ["GET /users/{id}", "GET"])
        #expect(exchanges.map { $0.texts["url.template"] } == ["/users/{id}", nil])
        #expect(call?.operationName == "Ask /users/{id}")
    }

    @Test("The version of HTTP and the peer are attributes if the transport reports them")
    func connection() async {
        let full = PipelineExchange.Connection(protocolVersion: "1.1", peerAddress: "192.0.2.1", peerPort: 8443)
        for connection in [full, PipelineExchange.Connection(peerPort: 8443)] {
            let step = ScriptedTransport.Step.answer { request, context in
                context.report(.connection(connection))
                return PipelineResponse(request: request, statusCode: 200)
            }
            await send(to: [step], plugin)
        }
        let names = ["network.protocol.version", "network.peer.address", "network.peer.port"]
        #expect(
            exchanges.map { span in names.map { span.texts[$0] } } == [["1.1", "192.0.2.1", "8443"], [nil, nil, nil]]
        )
    }

    @Test("A failed exchange has the facts that the transport reported of its connection")
    func failedConnection() async {
        let step = ScriptedTransport.Step.answer { _, context in
            context.report(.connection(PipelineExchange.Connection(protocolVersion: "2")))
            throw PipelineError(.connectionLost, "by script")
        }
        await send(to: [step], plugin)
        #expect(exchanges.map { $0.texts["network.protocol.version"] } == ["2"])
        #expect(exchanges.map { $0.texts["error.type"] } == ["connectionLost"])
    }

    @Test("A code that a plugin defines is _OTHER")
    func otherError() async {
        await send(to: [.failure(PipelineError.Code(rawValue: "mine"))], plugin)
        #expect(tracer.finished.map { $0.texts["error.type"] } == ["_OTHER", "_OTHER"])
    }

    @Test("The given redactor is applied to url.full")
    func redactor() async {
        let ask = Ask(url: "https://a.test?page=2&token=canary")
        await send(
            ask,
            to: [.status(200)],
            TracingPlugin(tracer: tracer, redactor: Redactor(shownQueryNames: ["page"]))
        )
        #expect(exchanges.map { $0.texts["url.full"] } == ["https://a.test/b?page=2&token=…"])
    }
}
