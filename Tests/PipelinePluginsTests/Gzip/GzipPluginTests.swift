import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineTesting
import Synchronization
import Testing

@Suite("GzipPlugin")
struct GzipPluginTests {
    private let transport = ScriptedTransport(always: .status(200))
    private let json = GzipBytes.json(20_000)

    private func sent(
        _ task: RequestTask,
        _ plugins: [any PluginType] = [GzipPlugin()],
        headers: [String: String]? = nil,
        options: RequestOptions = .init(),
        on other: ScriptedTransport? = nil
    ) async throws -> PipelineRequest {
        let transport = other ?? transport
        let provider = Provider<Ask>(transport: transport, plugins: plugins)
        _ = try await provider.request(Ask(method: .post, task: task, headers: headers), options: options)
        return try #require(transport.sent.last)
    }

    private func coded(_ request: PipelineRequest) async throws -> Data {
        try await request.body.collect(upTo: 1 << 20)
    }

    @Test("It does what every plugin has to do")
    func conformance() async {
        #expect(await PluginConformance { GzipPlugin() }.run() == [])
        #expect(await PluginConformance { GzipPlugin(requests: .off) }.run() == [])
    }

    // MARK: Requests

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

    // MARK: Asking

    @Test("Accept-Encoding is set where it is not")
    func asks() async throws {
        #expect(try await sent(.requestPlain).headers[values: .acceptEncoding] == [GzipTraitsTests.accepted])
        let own = try await sent(.requestPlain, headers: ["accept-encoding": "identity;q=0"])
        #expect(own.headers[values: .acceptEncoding] == ["identity;q=0"])
    }

    @Test("A request with Range asks for no coding, and a whole answer in one is decoded nevertheless")
    func range() async throws {
        let transport = ScriptedTransport([
            .status(200, headers: [.contentEncoding: "gzip"], body: .bytes(GzipBytes.gzip(json))),
            .status(200, headers: [.contentEncoding: "foo"], body: .bytes(json)),
        ])
        let provider = Provider<Ask>(transport: transport, plugins: [GzipPlugin()])
        #expect(try await provider.request(Ask(headers: ["Range": "bytes=5-"])).data == json)
        #expect(transport.sent.map { $0.headers.contains(.acceptEncoding) } == [false])
        let unknown = try await provider.request(Ask(headers: ["Range": "bytes=5-"]))
        #expect(unknown.data == json)
        #expect(unknown.headers[.contentEncoding] == "foo")
    }

    @Test("Z10: on a transport that decodes, nothing is asked for and nothing is decoded; requests are compressed")
    func decodingTransport() async throws {
        let gzip = GzipBytes.gzip(json)
        let step = ScriptedTransport.Step.status(200, headers: [.contentEncoding: "gzip"], body: .bytes(gzip))
        let transport = ScriptedTransport(always: step, decodesContent: true)
        let request = try await sent(.requestData(json), on: transport)
        #expect(!request.headers.contains(.acceptEncoding))
        #expect(request.headers[.contentEncoding] == "gzip")
        let response = try await Provider<Ask>(transport: transport, plugins: [GzipPlugin()]).request(Ask())
        #expect(response.data == gzip)
        #expect(response.headers[.contentEncoding] == "gzip")
    }

    @Test("explain() says that the transport decodes, and what a log inside shows")
    func notes() {
        func notes(_ decodes: Bool, _ plugins: any PluginType...) -> [String] {
            let transport = ScriptedTransport(always: .hang, decodesContent: decodes)
            return Provider<Ask>(transport: transport, plugins: plugins).explain().notes.map(\.message)
        }
        let decodes = "ScriptedTransport decodes content codings by itself: GzipPlugin only compresses requests"
        let logs = "LoggingPlugin stands inside GzipPlugin: it writes bodies as they are on the wire"
        #expect(notes(false, GzipPlugin()) == [])
        #expect(notes(true, GzipPlugin()) == [decodes])
        #expect(notes(true, GzipPlugin(), LoggingPlugin()) == [decodes, logs])
        #expect(notes(false, LoggingPlugin(), GzipPlugin()) == [])
    }

    // MARK: Position

    @Test("Of two in one stack the inner one does nothing, and explain() finds it")
    func twice() async throws {
        let step = ScriptedTransport.Step.status(
            200,
            headers: [.contentEncoding: "gzip, foo"],
            body: .bytes(GzipBytes.gzip(json))
        )
        let transport = ScriptedTransport(always: step)
        let stack: [any PluginType] = [GzipPlugin(level: 1), GzipPlugin(level: 9)]
        let provider = Provider<Ask>(transport: transport, plugins: stack)
        let error = await #expect(throws: PipelineError.self) {
            try await provider.request(Ask(method: .post, task: .requestData(json)))
        }
        #expect(error?.code == .contentCoding(.unsupported))
        #expect(transport.sent.first?.body.bytes == GzipBytes.gzip(json, level: 1))
        #expect(provider.explain().findings.count == 1)
        #expect(Provider<Ask>(transport: transport, plugins: [GzipPlugin()]).explain().findings.isEmpty)
    }

    @Test("A log outside shows the answer decoded, a log inside as on the wire")
    func logs() async throws {
        let lines = Mutex<[String]>([])
        let log = LoggingPlugin(level: .trace) { _, line in lines.withLock { $0.append(line) } }
        let text = Data(#"{"hello":"\#(String(repeating: "world ", count: 20))"}"#.utf8)
        let fields: HTTPFields = [.contentEncoding: "gzip", .contentType: "application/json"]
        let transport = ScriptedTransport(always: .status(200, headers: fields, body: .bytes(GzipBytes.gzip(text))))
        for (plugins, isShown) in [([log, GzipPlugin()], true), ([GzipPlugin(), log], false)]
            as [([any PluginType], Bool)]
        {
            lines.withLock { $0 = [] }
            _ = try await Provider<Ask>(transport: transport, plugins: plugins).request(Ask())
            #expect(lines.withLock { $0.contains { $0.contains("world world") } } == isShown)
        }
    }

    private struct SendingTwice: Stage.Intercept {
        func intercept(
            _ request: PipelineRequest,
            context: PipelineContext,
            next: Next
        ) async throws -> PipelineResponse {
            _ = try await next(request)
            return try await next(request)
        }
    }

    @Test(
        "Z12: each attempt sends the same bytes, whether the plugin stands inside or outside",
        arguments: [true, false]
    )
    func retry(isInside: Bool) async throws {
        let json = json
        let stack: [any PluginType] = isInside ? [SendingTwice(), GzipPlugin()] : [GzipPlugin(), SendingTwice()]
        let fields = ["Content-Length": String(json.count), "Content-Type": "text/plain"]
        for body in [PipelineBody.bytes(json), .stream(byteCount: json.count) { Pieces(json, of: 777) }] {
            let transport = ScriptedTransport(always: .status(503))
            _ = try await sent(.requestStream(body), stack, headers: fields, on: transport)
            #expect(transport.sent.count == 2)
            let first = try await coded(transport.sent[0])
            #expect(GzipBytes.gunzip(first) == json)
            #expect(try await coded(transport.sent[1]) == first)
            for request in transport.sent {
                #expect(request.headers[values: .contentEncoding] == ["gzip"])
                let length = body.bytes == nil ? nil : String(first.count)
                #expect(request.headers[.contentLength] == length)
            }
        }
    }

    @Test("An answer that is decoded outside of what shares it is decoded for each caller, inside once")
    func shared() async throws {
        let kept = Mutex<PipelineResponse?>(nil)
        let share = InterceptPlugin.intercept { request, _, next in
            if var response = kept.withLock({ $0 }) {
                response.request = request
                return response
            }
            let response = try await next(request)
            kept.withLock { $0 = response }
            return response
        }
        for (stack, isCompressed) in [([GzipPlugin(), share], true), ([share, GzipPlugin()], false)]
            as [([any PluginType], Bool)]
        {
            kept.withLock { $0 = nil }
            let step = ScriptedTransport.Step.status(
                200,
                headers: [.contentEncoding: "gzip"],
                body: .bytes(GzipBytes.gzip(json))
            )
            let provider = Provider<Ask>(transport: ScriptedTransport(always: step), plugins: stack)
            for _ in 0..<2 { #expect(try await provider.request(Ask()).data == json) }
            #expect(kept.withLock { $0?.headers.contains(.contentEncoding) } == isCompressed)
        }
    }

    // MARK: Errors

    @Test("Failures of others pass through, and errors hold no part of a body")
    func failures() async throws {
        let provider = Provider<Ask>(
            transport: ScriptedTransport([
                .failure(.connectionLost),
                .status(200, headers: [.contentEncoding: "gzip"], body: "canary canary"),
            ]),
            plugins: [GzipPlugin()]
        )
        let lost = await #expect(throws: PipelineError.self) { try await provider.request(Ask()) }
        #expect(lost?.code == .connectionLost)
        #expect(lost?.plugin == nil)
        let corrupt = await #expect(throws: PipelineError.self) { try await provider.request(Ask()) }
        #expect(corrupt?.code == .contentCoding(.corrupt))
        #expect(corrupt?.plugin == "GzipPlugin")
        #expect(corrupt?.response?.statusCode == 200)
        #expect(corrupt?.response?.body.isNone == true)
        #expect(corrupt?.exchanges.count == 1)
        var text = "\(String(describing: corrupt)) \(String(reflecting: corrupt))"
        dump(corrupt, to: &text)
        #expect(!text.contains("canary"))
        #expect(corrupt.map { error in if case .contentCoding = error.code { true } else { false } } == true)
    }

    @Test("Settings that make no sense stop the program with their value")
    func nonsense() async {
        let level = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = GzipPlugin(level: 10)
        }
        let levelText = String(decoding: level?.standardErrorContent ?? [], as: UTF8.self)
        #expect(levelText.contains("level is 10, not 1 to 9"))
        await #expect(processExitsWith: .failure) { _ = GzipPlugin(level: 0) }
        let minimum = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = GzipPlugin(minimumByteCount: -1)
        }
        let minimumText = String(decoding: minimum?.standardErrorContent ?? [], as: UTF8.self)
        #expect(minimumText.contains("minimumByteCount is -1, not 0 or more"))
        await #expect(processExitsWith: .failure) { _ = GzipPlugin.Limits(decodedByteCount: -1) }
        await #expect(processExitsWith: .failure) { _ = GzipPlugin.Limits(ratio: 0) }
        await #expect(processExitsWith: .failure) { _ = GzipPlugin.Limits(ratioFreeByteCount: -1) }
        await #expect(processExitsWith: .failure) { _ = GzipPlugin.Limits(codingCount: 0) }
    }
}
