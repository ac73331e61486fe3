import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("URLSessionTransport: content codings", .tags(.concurrent), .realTime, .watched)
struct URLSessionContentCodingTests {
    private let provider = Provider<Probe>(transport: URLSessionTransport(), configuration: .init(redirects: .never))
    private let text = Data(String(repeating: "hello ", count: 1_000).utf8)

    private func response(
        _ coding: String,
        _ body: Data,
        status: Int = 200,
        method: HTTPRequest.Method = .get
    ) async throws -> PipelineResponse {
        let server = try LoopbackServer { request in
            let length = status == 204 || request.method == "HEAD" ? "" : "Content-Length: \(body.count)\r\n"
            let head = "HTTP/1.1 \(status) Status\r\nContent-Encoding: \(coding)\r\n\(length)\r\n"
            return [.send(Data(head.utf8) + (request.method == "HEAD" || status != 200 ? Data() : body)), .close]
        }
        defer { server.stop() }
        return try await provider.request(Probe(server, method: method))
    }

    private func code(_ coding: String, _ body: Data) async throws -> PipelineError.Code? {
        do {
            _ = try await response(coding, body)
            return nil
        } catch let error as PipelineError {
            return error.code
        }
    }

    @Test(
        "Z07, Z10: a body that Foundation decoded loses Content-Encoding and Content-Length",
        arguments: ["gzip", "x-gzip", "GZIP", "gzip, identity"]
    )
    func gzip(coding: String) async throws {
        let response = try await response(coding, Deflate.gzip(text))
        #expect(response.data == text)
        #expect(response.headers[.contentEncoding] == nil)
        #expect(response.headers[.contentLength] == nil)
    }

    @Test("deflate is decoded as well")
    func deflate() async throws {
        let response = try await response("deflate", Deflate.zlib(text))
        #expect(response.data == text)
        #expect(response.headers[.contentEncoding] == nil)
    }

    @Test("Z06: two codings are decoded in turn")
    func twice() async throws {
        let response = try await response("gzip, gzip", Deflate.gzip(Deflate.gzip(text)))
        #expect(response.data == text)
        #expect(response.headers[.contentEncoding] == nil)
    }

    @Test("Z07: identity is left as it is")
    func identity() async throws {
        let response = try await response("identity", text)
        #expect(response.data == text)
        #expect(response.headers[.contentEncoding] == "identity")
        #expect(response.headers[.contentLength] == "6000")
    }

    @Test(
        "Z08: a body that is not in its declared coding fails with contentCoding",
        arguments: ["gzip", "deflate", "br", "zstd"]
    )
    func notCoded(coding: String) async throws {
        #expect(try await code(coding, text) == .contentCoding(.corrupt))
    }

    @Test("Z08: gzip without Content-Encoding is left as it is")
    func unsaid() async throws {
        let body = Deflate.gzip(text)
        let server = try LoopbackServer { _ in [.respond(200, body: body)] }
        #expect(try await provider.request(Probe(server)).data == body)
    }

    @Test("Z09: a response without a body keeps Content-Encoding")
    func noBody() async throws {
        #expect(try await response("gzip", text, method: .head).headers[.contentEncoding] == "gzip")
        #expect(try await response("gzip", text, status: 204).headers[.contentEncoding] == "gzip")
        let notModified = try await response("gzip", text, status: 304)
        #expect(notModified.headers[.contentEncoding] == "gzip")
        #expect(notModified.headers[.contentLength] == "6000")
        #expect(notModified.data.isEmpty)
    }

    @Test("Z09: an empty coded body decodes to an empty body")
    func emptyBody() async throws {
        let response = try await response("gzip", Data())
        #expect(response.data.isEmpty)
        #expect(response.headers[.contentEncoding] == nil)
    }

    @Test("a stream is decoded, too, and its length is unknown")
    func stream() async throws {
        let body = Deflate.gzip(text)
        let server = try LoopbackServer { _ in [.respond(200, headers: [("Content-Encoding", "gzip")], body: body)] }
        let response = try await provider.stream(Probe(server))
        #expect(response.response.body.byteCount == nil)
        #expect(response.headers[.contentLength] == nil)
        var collected = Data()
        for try await chunk in response.body { collected.append(chunk) }
        #expect(collected == text)
    }

    #if canImport(FoundationNetworking)
    @Test("Z03: on Linux, gzip with two members fails with contentCoding")
    func twoMembers() async throws {
        #expect(try await code("gzip", Deflate.gzip(text) + Deflate.gzip(text)) == .contentCoding(.corrupt))
    }

    @Test("Z07: on Linux, an unknown coding fails with contentCoding", arguments: ["foo", "gzip, foo"])
    func unknown(coding: String) async throws {
        #expect(try await code(coding, text) == .contentCoding(.corrupt))
    }

    @Test("Z01: on Linux, truncated gzip in a complete response goes unnoticed")
    func cut() async throws {
        let body = Deflate.gzip(text)
        let response = try await response("gzip", Data(body.dropLast(4)))
        #expect(response.statusCode == 200)
        #expect(text.starts(with: response.data))
    }
    #endif
}
