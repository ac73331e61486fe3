import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Paths of targets that would be sent as something else", .watched)
struct PathTests {
    @Test(
        "A path with a question mark is refused before anything is sent, with the remedy",
        arguments: ["items?page=2", "?page=2", "items?", "a/b?c"]
    )
    func query(path: String) async {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<TestTarget>(transport: transport)
        let error = await pipelineError { _ = try await provider.request(TestTarget(path: path)) }
        #expect(error?.code == .invalidRequest(.path))
        #expect(error?.reason.contains("requestQuery") == true)
        #expect(transport.sent.isEmpty)
    }

    @Test("A value with a question mark can be sent as a segment, and a URL may have a query")
    func escaped() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<MultiTarget>(transport: transport)
        _ = try await provider.request(TestTarget(path: "items/" + Endpoint.pathSegment("a?b")))
        _ = try await provider.request(URLTarget("https://a.test/b?c=1"))
        #expect(transport.sent[0].head.path?.hasSuffix("/items/a%3Fb") == true)
        #expect(transport.sent[1].head.path == "/b?c=1")
    }
}
