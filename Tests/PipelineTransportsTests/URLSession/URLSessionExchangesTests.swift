import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineTransports

@Suite("URLSessionTransport: delegate", .tags(.concurrent), .realTime, .watched)
struct URLSessionExchangesTests {
    @Test("releasing the transport closes its connections and frees its delegate")
    func release() async throws {
        let server = try LoopbackServer { _ in [.respond(200, body: "hello")] }
        weak var delegate: URLSessionExchanges?
        do {
            let transport = URLSessionTransport()
            delegate = transport.delegate
            _ = try await URLSessionTransportTests.makeProvider(transport).request(Probe(server))
        }
        try await server.wait { $0.openConnectionCount == 0 }
        await eventually { delegate == nil }
    }

    @Test("a stream continues after the transport is released")
    func streamOutlivesTransport() async throws {
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"), .hold("rest"), .send("two"), .close]
        }
        let response = try await URLSessionTransportTests.makeProvider().stream(Probe(server))
        var collected = Data()
        for try await chunk in response.body {
            collected.append(chunk)
            server.release("rest")
        }
        #expect(collected == Data("onetwo".utf8))
    }
}
