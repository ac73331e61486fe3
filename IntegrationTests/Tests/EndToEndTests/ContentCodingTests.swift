import Pipeline
import TestSupport
import Testing

@Suite("httpbin: content codings", .besideHTTPBin, .realTime, .watched)
struct ContentCodingTests {
    private struct Coded: HTTPBinTarget {
        var coding: String
        var method: HTTPMethod = .get
        var headers: [String: String]?

        var path: String { "/" + coding }
    }

    private static let rows = [("gzip", "gzipped"), ("deflate", "deflated"), ("brotli", "brotli")]

    private let provider = Provider<Coded>(plugins: [GzipPlugin()])
    private let foundation = Provider<Coded>(transport: URLSessionTransport())

    @Test("a coded body arrives decoded, without the fields that describe its coding", arguments: rows)
    func decoded(coding: String, flag: String) async throws {
        let response = try await provider.request(Coded(coding: coding))
        #expect(try response.map(Bool.self, atKeyPath: flag))
        #expect(try response.mapString(atKeyPath: "method") == "GET")
        #expect(response.headers[.contentEncoding] == nil)
        #expect(response.headers[.contentLength] == nil)
        #expect(response.headers[.contentType] == "application/json")
    }

    @Test("a coded stream arrives decoded", arguments: rows)
    func decodedStream(coding: String, flag: String) async throws {
        let streamed = try await provider.stream(Coded(coding: coding))
        #expect(streamed.headers[.contentEncoding] == nil)
        let text = String(decoding: try await streamed.response.body.collect(upTo: 1 << 20), as: UTF8.self)
        #expect(text.contains("\"\(flag)\": true"))
    }

    @Test(
        "a response without a body keeps the fields that describe its coding",
        arguments: [("gzip", "gzip"), ("brotli", "br")]
    )
    func head(coding: String, name: String) async throws {
        let response = try await provider.request(Coded(coding: coding, method: .head))
        #expect(response.data.isEmpty)
        #expect(response.headers[.contentEncoding] == name)
        #expect(response.headers[.contentLength] != nil)
    }

    // On Linux, Foundation takes half of a compressed body for whole. Elsewhere, it adds Accept-Encoding.
    @Test("F15: URLSession on Linux asks for no coding; elsewhere, the request accepts the codings that it decodes")
    func asked() async throws {
        let asked = try await foundation.request(Coded(coding: "headers")).mapString(
            atKeyPath: "headers.Accept-Encoding"
        )
        #if canImport(FoundationNetworking)
        #expect(asked == "identity")
        #else
        for coding in ["gzip", "deflate"] { #expect(asked.contains(coding)) }
        #endif
    }

    // Foundation on Linux lets libcurl decode any coding.
    @Test("URLSession: an unrequested coding is decoded, too")
    func unasked() async throws {
        let response = try await foundation.request(Coded(coding: "gzip", headers: ["Accept-Encoding": "identity"]))
        #expect(try response.mapString(atKeyPath: "headers.Accept-Encoding") == "identity")
        #expect(response.headers[.contentEncoding] == nil)
    }
}
