import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Provider without a transport", .tags(.concurrent), .realTime, .watched)
struct DefaultTransportTests {
    @Test("it uses AsyncHTTPClient on Linux if the trait is on, and otherwise URLSession")
    func choice() async throws {
        let provider = Provider<Probe>(plugins: [.willSend { _, _ in }])
        #if AsyncHTTPClient && os(Linux)
        let expected = "AsyncHTTPClientTransport"
        #else
        let expected = "URLSessionTransport"
        #endif
        #expect("\(provider.explain())".contains("└─ \(expected)"))
        let server = try LoopbackServer { _ in [.respond(200, body: "hello")] }
        #expect(try await provider.request(Probe(server)).data == Data("hello".utf8))
    }

    @Test("it also accepts a plugin stack and all settings")
    func stack() async throws {
        let server = try LoopbackServer { request in
            request.target.hasPrefix("/moved")
                ? [.respond(302, headers: [("Location", "/here")])] : [.respond(200, body: "hello")]
        }
        let stack = PluginStack {
            if server.port > 0 { .prepare(name: "first") { request, _ in request.appendQuery("a=1") } }
        }
        let clock = ManualClock()
        let provider = Provider<Probe>(
            plugins: [stack],
            configuration: .init(
                redirects: .never,
                limits: ProviderConfiguration.Limits(bufferedBodyByteCount: 4),
                clock: clock
            )
        ) { target in
            var endpoint = Endpoint(target)
            endpoint.httpHeaderFields = ["X-From": "endpoint"]
            return endpoint
        }
        #expect(provider.plugins.map(\.name) == ["first"])
        #expect(try await provider.request(Probe(server, "/moved")).statusCode == 302)
        #expect(server.requests.last?.target == "/moved?a=1")
        #expect(server.requests.last?.values(of: "X-From") == ["endpoint"])
        #expect(try await provider.failureCode(Probe(server)) == .limit(.bodyBytes))
    }
}
