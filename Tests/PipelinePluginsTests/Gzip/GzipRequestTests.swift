import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineTesting
import Testing

@Suite("GzipPlugin: requests")
struct GzipRequestTests: GzipSending {
    let transport = ScriptedTransport(always: .status(200))
    private let json = GzipBytes.json(20_000)

    @Test("A body of bytes becomes gzip without time and name", arguments: 1...9)
    func bytes(level: Int) async throws {
        let request = try await sent(.requestData(json), [GzipPlugin(level: level)])
        let gzip = try #require(request.body.bytes)
        #expect(GzipBytes.gunzip(gzip) == json)
        #expect(gzip == GzipBytes.gzip(json, level: Int32(level)))
        #expect(gzip.prefix(8) == Data([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]))
        #expect(request.headers[values: .contentEncoding] == ["gzip"])
        #expect(!request.headers.contains(.contentLength))
    }

    @Test("A Content-Length that is there is put right, or removed for a stream")
    func contentLength() async throws {
        let fields = ["Content-Length": String(json.count), "Content-Type": "text/plain"]
        let whole = try await sent(.requestData(json), headers: fields)
        #expect(whole.headers[.contentLength] == whole.body.byteCount.map { String($0) })
        let stream = PipelineBody.stream(Pieces(json, of: 999), byteCount: json.count)
        let streamed = try await sent(.requestStream(stream), headers: fields)
        #expect(!streamed.headers.contains(.contentLength))
        #expect(streamed.body.byteCount == nil)
    }

    @Test(
        "Bodies from the minimum on are compressed",
        arguments: [(1_023, 1_024, false), (1_024, 1_024, true), (99, 100, false), (100, 100, true), (40, 0, true)]
    )
    func minimum(count: Int, minimum: Int, isCompressed: Bool) async throws {
        let body = Data(repeating: 0x61, count: count)
        let plugin = minimum == 1_024 ? GzipPlugin() : GzipPlugin(minimumByteCount: minimum)
        let whole = try await sent(.requestData(body), [plugin])
        #expect(whole.headers.contains(.contentEncoding) == isCompressed)
        #expect(try await coded(whole) == (isCompressed ? GzipBytes.gzip(body) : body))
        let stream = PipelineBody.stream(Pieces(body, of: 10), byteCount: count)
        let streamed = try await sent(.requestStream(stream), [plugin], headers: ["Content-Type": "text/plain"])
        #expect(streamed.headers.contains(.contentEncoding) == isCompressed)
        #expect(try await coded(streamed) == (isCompressed ? GzipBytes.gzip(body) : body))
    }

    @Test("Bytes that gzip does not make fewer are sent as they are", arguments: [1, 2, 17, 1_024, 70_000, 600_000])
    func notSmaller(count: Int) async throws {
        let noise = GzipBytes.noise(count)
        let request = try await sent(.requestData(noise), [GzipPlugin(minimumByteCount: 0)])
        #expect(request.body.bytes == noise)
        #expect(!request.headers.contains(.contentEncoding))
    }

    @Test("Gzip that is as long as the bytes is not sent, one byte less is")
    func exactlySmaller() async throws {
        var seen: Set<Int> = []
        for count in 10...60 {
            let body = Data(repeating: 0x61, count: count / 2) + GzipBytes.noise(count - count / 2)
            let difference = GzipBytes.gzip(body).count - body.count
            let request = try await sent(.requestData(body), [GzipPlugin(minimumByteCount: 0)])
            #expect(request.headers.contains(.contentEncoding) == (difference < 0))
            seen.insert(difference)
        }
        #expect(seen.isSuperset(of: [-1, 0]))
    }

    @Test("No body, and one of no bytes, are left alone")
    func nothing() async throws {
        for task in [RequestTask.requestPlain, .requestData(Data())] {
            let request = try await sent(task, [GzipPlugin(minimumByteCount: 0)])
            #expect(request.body.byteCount == 0)
            #expect(!request.headers.contains(.contentEncoding))
        }
    }

    @Test("A stream of unknown length is compressed while it is sent")
    func stream() async throws {
        let pieces = Pieces(json, of: 1_000)
        let request = try await sent(.requestStream(.stream(pieces)), headers: ["Content-Type": "text/plain"])
        #expect(request.body.bytes == nil && request.body.fileURL == nil && request.body.byteCount == nil)
        #expect(!request.body.isReplayable)
        #expect(pieces.takenCount == 0)
        #expect(GzipBytes.gunzip(try await coded(request)) == json)
    }

    @Test("Large streams come in pieces, and are not held back to their end")
    func streamInPieces() async throws {
        let pieces = Pieces(GzipBytes.noise(1 << 20), of: 16_384)
        let request = try await sent(.requestStream(.stream(pieces)), headers: ["Content-Type": "text/plain"])
        var iterator = request.body.chunks().makeAsyncIterator()
        let first = try #require(try await iterator.next())
        #expect(pieces.takenCount < 8)
        var whole = first
        while let piece = try await iterator.next() {
            #expect((1...65_536).contains(piece.count))
            whole += piece
        }
        #expect(GzipBytes.gunzip(whole) == GzipBytes.noise(1 << 20))
    }

    @Test("Of a stream what zlib has not done with waits until more has come")
    func waits() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        let request = try await sent(.requestStream(.stream(stream)), headers: ["Content-Type": "text/plain"])
        continuation.yield(json.prefix(1_000))
        var iterator = request.body.chunks().makeAsyncIterator()
        var coded = try #require(try await iterator.next())
        #expect(coded.count == 10)
        continuation.yield(json.dropFirst(1_000))
        continuation.finish()
        while let piece = try await iterator.next() { coded += piece }
        #expect(GzipBytes.gunzip(coded) == json)
    }

    @Test("A file is compressed while it is sent, and can be sent again")
    func file() async throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "gzip-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        try json.write(to: url)
        let request = try await sent(.uploadFile(url), headers: ["Content-Type": "application/json"])
        #expect(request.body.isReplayable)
        let first = try await coded(request)
        #expect(GzipBytes.gunzip(first) == json)
        #expect(try await coded(request) == first)
    }

    @Test("The progress of a stream knows its whole only without compression", arguments: [true, false])
    func progress(isCompressed: Bool) async throws {
        let transport = ScriptedTransport(
            always: .answer { request, context in
                context.reportSent(5)
                return PipelineResponse(request: request, statusCode: 200)
            }
        )
        let provider = Provider<Ask>(transport: transport, plugins: [GzipPlugin(requests: isCompressed ? .all : .off)])
        let stream = PipelineBody.stream(Pieces(json, of: 999), byteCount: json.count)
        let target = Ask(method: .post, task: .requestStream(stream), headers: ["Content-Type": "text/plain"])
        var last: ProgressResponse?
        for try await step in provider.requestWithProgress(target) { last = step }
        #expect(last?.sent == .init(byteCount: 5, totalByteCount: isCompressed ? nil : json.count))
    }

    @Test("A stream that can be replayed still can")
    func replayable() async throws {
        let json = json
        let body = PipelineBody.stream { Pieces(json, of: 777) }
        let request = try await sent(.requestStream(body), headers: ["Content-Type": "text/plain"])
        #expect(request.body.isReplayable)
        let first = try await coded(request)
        #expect(GzipBytes.gunzip(first) == json)
        #expect(try await coded(request) == first)
    }

    @Test("A stream that is not as long as announced is bodyChanged", arguments: [-1, 1])
    func streamLength(difference: Int) async throws {
        let stream = PipelineBody.stream(Pieces(json, of: 999), byteCount: json.count + difference)
        let request = try await sent(.requestStream(stream), headers: ["Content-Type": "text/plain"])
        let error = await #expect(throws: PipelineError.self) { try await coded(request) }
        #expect(error?.code == .bodyChanged)
    }

    @Test(
        "Types of compressed data are left alone; those that may hold anything are compressed as bytes only",
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

    @Test(
        "The plugin's setting decides, and that of a request wins over it",
        arguments: [
            (GzipPlugin.RequestCompression.all, nil, true, true), (.bytes, nil, true, false), (.off, nil, false, false),
            (.all, .off, false, false), (.off, .all, true, true), (.off, .bytes, true, false),
        ] as [(GzipPlugin.RequestCompression, GzipPlugin.RequestCompression?, Bool, Bool)]
    )
    func setting(
        plugin: GzipPlugin.RequestCompression,
        request: GzipPlugin.RequestCompression?,
        bytes: Bool,
        streams: Bool
    ) async throws {
        let options = RequestOptions { $0.requestCompression = request }
        let fields = ["Content-Type": "text/plain"]
        let stack = [GzipPlugin(requests: plugin)]
        let whole = try await sent(.requestData(json), stack, headers: fields, options: options)
        #expect(whole.headers.contains(.contentEncoding) == bytes)
        let pieces = RequestTask.requestStream(.stream(Pieces(json, of: 1_000)))
        let streamed = try await sent(pieces, stack, headers: fields, options: options)
        #expect(streamed.headers.contains(.contentEncoding) == streams)
        #expect(RequestOptions().requestCompression == nil)
    }
}
