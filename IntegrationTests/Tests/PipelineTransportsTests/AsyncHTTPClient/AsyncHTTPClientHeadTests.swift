import AsyncHTTPClient
import Foundation
import NIOCore
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("AsyncHTTPClientTransport: response header fields", .tags(.concurrent), .realTime, .watched)
struct AsyncHTTPClientHeadTests {
    @Test("response fields keep their order, case and repeats")
    func responseFields() async throws {
        let lines = ["X-C: 3", "x-b: 2", "Set-Cookie: a=1, b", "X-A: 1", "Set-Cookie: b=2", "x-B: 4"]
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 200 OK\r\n\(lines.joined(separator: "\r\n"))\r\nContent-Length: 0\r\n\r\n")]
        }
        let response = try await Provider<Probe>(transport: AsyncHTTPClientTransport()).request(Probe(server))
        #expect(response.headers.map { "\($0.name.rawName): \($0.value)" } == lines + ["Content-Length: 0"])
    }

    @Test("a response to HEAD and a 304 may announce more bytes than the memory limit", arguments: [200, 304])
    func announcedOnly(statusCode: Int) async throws {
        let server = try LoopbackServer { _ in
            [.send("HTTP/1.1 \(statusCode) Yes\r\nContent-Length: 1000000000000\r\n\r\n")]
        }
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport())
        for _ in 0..<2 {
            let response = try await provider.request(Probe(server, method: .head))
            #expect(response.headers[.contentLength] == "1000000000000")
            #expect(response.data.isEmpty)
        }
        #expect(server.activity.connectionCount == 1)
    }
}
