import AsyncHTTPClient
import Foundation
import NIOCore
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("AsyncHTTPClientTransport: requests", .tags(.concurrent), .realTime, .watched)
struct AsyncHTTPClientUploadTests {
    @Test("request fields are sent in order, with repeats; only Host and framing fields are added")
    func requestFields() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let names = ["X-Z", "X-A", "X-Z", "x-mixed-Case"].compactMap { HTTPField.Name($0) }
        let host = try #require(HTTPField.Name("Host"))
        let provider = Provider<Probe>(
            transport: AsyncHTTPClientTransport(),
            plugins: [
                .prepare { request, _ in
                    for (index, name) in names.enumerated() {
                        request.headers.append(HTTPField(name: name, value: "\(index)"))
                    }
                }
            ]
        )
        _ = try await provider.request(Probe(server))
        let body = RequestTask.requestData(Data("body".utf8))
        _ = try await provider.request(Probe(server, method: .post, task: body))
        let framed = Provider<Probe>(
            transport: AsyncHTTPClientTransport(),
            plugins: [
                .prepare { request, _ in
                    request.headers[host] = "127.0.0.1:\(server.port)"
                    request.headers[.contentLength] = "4"
                }
            ]
        )
        _ = try await framed.request(Probe(server, method: .post, task: body))
        let own = ["X-Z: 0", "X-A: 1", "X-Z: 2", "x-mixed-Case: 3"]
        let sent = server.requests.map {
            $0.headerLines.map { $0.replacingOccurrences(of: "\(server.port)", with: "P") }
        }
        #expect(sent[0].filter { !$0.lowercased().hasPrefix("host:") } == own)
        #expect(
            Set(sent[1].map { $0.lowercased() }).subtracting(own.map { $0.lowercased() }) == [
                "host: 127.0.0.1:p", "content-length: 4",
            ]
        )
        #expect(Set(sent[2].map { $0.lowercased() }) == ["host: 127.0.0.1:p", "content-length: 4"])
    }

    @Test("a TRACE request with a body fails with invalidRequest.body, and nothing is sent")
    func trace() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport())
        let target = Probe(server, method: .trace, task: .requestData(Data("body".utf8)))
        #expect(try await provider.failureCode(target) == .invalidRequest(.body))
        #expect(server.activity.connectionCount == 0)
    }
}
