import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("DeduplicationPlugin over HTTP", .tags(.concurrent), .realTime, .watched)
struct DeduplicationLoopbackTests {
    @Test("D01: the server sees one request for 100 concurrent calls, and each gets the whole response")
    func hundred() async throws {
        let body = String(repeating: "0123456789", count: 10_000)
        let server = try LoopbackServer { _ in [.hold("answer"), .respond(200, body: body)] }
        defer { server.stop() }
        let plugin = DeduplicationPlugin()
        let provider = Provider<Ask>(transport: URLSessionTransport(), plugins: [plugin])
        let url = server.url.absoluteString
        let calls = (0..<100).map { number in
            Task { try await provider.request(Ask(url: url, headers: ["X-Request-ID": "\(number)"])) }
        }
        await eventually { plugin.callerCount == 100 && server.activity.holdCount == 1 }
        #expect(plugin.inflightCount == 1)
        server.release("answer")
        let responses = await calls.results.compactMap(\.response)
        #expect(responses.count == 100)
        #expect(responses.allSatisfy { $0.data == Data(body.utf8) })
        #expect(server.requests.count == 1)
        #expect(plugin.inflightCount == 0)
    }

    @Test("D02: when the last caller leaves, the connection is closed")
    func gone() async throws {
        let server = try LoopbackServer { _ in [.stall] }
        defer { server.stop() }
        let plugin = DeduplicationPlugin()
        let provider = Provider<Ask>(transport: URLSessionTransport(), plugins: [plugin])
        let url = server.url.absoluteString
        let calls = (0..<5).map { _ in Task { try await provider.request(Ask(url: url)) } }
        await eventually { plugin.callerCount == 5 && server.requests.count == 1 }
        for call in calls {
            #expect(server.activity.openConnectionCount == 1)
            call.cancel()
            #expect(await call.result.isCancelled)
        }
        try await server.wait { $0.openConnectionCount == 0 }
        #expect(server.requests.count == 1)
    }
}
