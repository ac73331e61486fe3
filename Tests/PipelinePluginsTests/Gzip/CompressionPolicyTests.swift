import Foundation
import Pipeline
import PipelineAuth
import PipelineTesting
import TestSupport
import Testing

@Suite("GzipPlugin: which requests are compressed", .watched)
struct CompressionPolicyTests: GzipSending {
    let transport = ScriptedTransport(always: .status(200))
    private let json = GzipBytes.json(20_000)

    @Test(
        "Bodies of at least the minimum size are compressed",
        arguments: [(1_023, 1_024, false), (1_024, 1_024, true), (99, 100, false), (100, 100, true), (40, 0, true)]
    )
    func minimum(count: Int, minimum: Int, isCompressed: Bool) async throws {
        let body = Data(repeating: 0x61, count: count)
        let plugin = GzipPlugin(requestCompression: .always, minimumByteCount: minimum)
        let whole = try await sent(.requestData(body), [plugin])
        #expect(whole.headers.contains(.contentEncoding) == isCompressed)
        #expect(try await coded(whole) == (isCompressed ? GzipBytes.gzip(body) : body))
        let stream = PipelineBody.stream(Pieces(body, of: 10), byteCount: count)
        let streamed = try await sent(.requestStream(stream), [plugin], headers: ["Content-Type": "text/plain"])
        #expect(streamed.headers.contains(.contentEncoding) == isCompressed)
        #expect(try await coded(streamed) == (isCompressed ? GzipBytes.gzip(body) : body))
    }

    @Test(
        "Bodies of compressed types are left alone; types that may hold anything are compressed only as bytes",
        arguments: [
            ("application/json", true, true), ("text/html; charset=utf-8", true, true), ("image/svg+xml", true, true),
            ("image/bmp", true, true), ("application/x-www-form-urlencoded", true, true), ("font/ttf", true, true),
            ("application/vnd.api+json", true, true), ("image/png", false, false), ("IMAGE/JPEG", false, false),
            ("video/mp4", false, false), ("audio/mpeg", false, false), ("application/zip", false, false),
            ("application/gzip", false, false), ("application/x-gzip;a=b", false, false), ("font/woff2", false, false),
            ("application/epub+zip", false, false), ("application/pdf", false, false),
            ("application/zstd", false, false),
            ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", false, false),
            ("application/octet-stream", true, false), ("multipart/form-data; boundary=b", true, false),
            ("nonsense", true, false), ("", true, false),
        ]
    )
    func types(type: String, whole: Bool, streamed: Bool) async throws {
        let fields = type.isEmpty ? nil : ["Content-Type": type]
        let bytes = try await sent(.requestData(json), headers: fields)
        #expect(bytes.headers.contains(.contentEncoding) == whole)
        let stream = try await sent(.requestStream(.stream(Pieces(json, of: 1_000))), headers: fields)
        #expect(stream.headers.contains(.contentEncoding) == streamed)
    }

    @Test(
        "Z12: a body with a coding, a range or a digest is left alone",
        arguments: ["Content-Encoding", "Content-Range", "Content-Digest", "Repr-Digest", "Digest", "Content-MD5"]
    )
    func described(name: String) async throws {
        let request = try await sent(.requestData(json), headers: [name: "br"])
        #expect(request.body.bytes == json)
        #expect(request.headers[values: .contentEncoding] == (name == "Content-Encoding" ? ["br"] : []))
    }
}
