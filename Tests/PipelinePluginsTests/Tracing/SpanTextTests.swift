#if Tracing
import Foundation
import HTTPTypes
import InMemoryTracing
import Pipeline
import PipelineTesting
import TestSupport
import Testing
import Tracing

@testable import PipelinePlugins

@Suite("TracingPlugin: attributes and names of spans", .tags(.concurrent))
struct SpanTextTests {
    private let tracer = W3CTracer()
    private let clock = ManualClock()

    private var plugin: TracingPlugin { TracingPlugin(tracer: tracer) }

    private var call: FinishedInMemorySpan? { tracer.finished.last { $0.operationName.hasSuffix("Ask") } }
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

    @Test("A method that no RFC defines is _OTHER, and HTTP in the span's name")
    func otherMethod() async {
        await send(Ask(method: HTTPRequest.Method("MINE") ?? .get), to: [.status(200)], plugin)
        #expect(exchanges.map(\.operationName) == ["HTTP"])
        #expect(call?.operationName == "HTTP Ask")
        #expect(exchanges.first?.texts["http.request.method"] == "_OTHER")
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
#endif
