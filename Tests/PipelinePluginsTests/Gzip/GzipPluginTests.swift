import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("GzipPlugin", .watched)
struct GzipPluginTests: GzipSending {
    let transport = ScriptedTransport(always: .status(200))
    private let json = GzipBytes.json(20_000)

    @Test("The plugin passes the conformance suite")
    func conformance() async {
        #expect(await PluginConformance { GzipPlugin() }.run() == [])
        #expect(await PluginConformance { GzipPlugin(requestCompression: .always) }.run() == [])
    }

    // MARK: Accept-Encoding

    @Test("Accept-Encoding is set if it is absent")
    func asks() async throws {
        #expect(try await sent(.requestPlain).headers[values: .acceptEncoding] == [GzipTraitsTests.accepted])
        let own = try await sent(.requestPlain, headers: ["accept-encoding": "identity;q=0"])
        #expect(own.headers[values: .acceptEncoding] == ["identity;q=0"])
    }

    @Test("A request with Range asks for no coding, but a complete response with a supported one is decoded")
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

    @Test("Z10: if the transport decodes, only requests are compressed; nothing is asked for or decoded")
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

    @Test("explain() reports what an inner log shows, and nothing about a transport that decodes")
    func notes() {
        func notes(_ decodes: Bool, _ plugins: any PluginType...) -> [String] {
            let transport = ScriptedTransport(always: .hang, decodesContent: decodes)
            return Provider<Ask>(transport: transport, plugins: plugins).explain().hints.map(\.message)
        }
        let logs = "LoggingPlugin is inside GzipPlugin: it shows content as it is on the wire"
        #expect(notes(false, GzipPlugin()) == [])
        #expect(notes(true, GzipPlugin()) == [])
        #expect(notes(true, GzipPlugin(), LoggingPlugin()) == [logs])
        #expect(notes(false, LoggingPlugin(), GzipPlugin()) == [])
    }

    // MARK: Position

    @Test("Of two plugins in a stack, the inner one does nothing, and explain() reports them")
    func twice() async throws {
        let step = ScriptedTransport.Step.status(
            200,
            headers: [.contentEncoding: "gzip, foo"],
            body: .bytes(GzipBytes.gzip(json))
        )
        let transport = ScriptedTransport(always: step)
        let stack: [any PluginType] = [1, 9].map { GzipPlugin(requestCompression: .always, level: $0) }
        let provider = Provider<Ask>(transport: transport, plugins: stack)
        let error = await #expect(throws: PipelineError.self) {
            try await provider.request(Ask(method: .post, task: .requestData(json)))
        }
        #expect(error?.code == .contentCoding(.unsupported))
        #expect(transport.sent.first?.body.bytes == GzipBytes.gzip(json, level: 1))
        #expect(provider.explain().findings.count == 1)
        #expect(Provider<Ask>(transport: transport, plugins: [GzipPlugin()]).explain().findings.isEmpty)
    }

    @Test("A log outside shows the decoded response, a log inside the response as on the wire")
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

    @Test("A plugin inside, such as one that signs bodies, sees the compressed request")
    func signs() async throws {
        let seen = Mutex<Data?>(nil)
        let sign = PluginStack.prepare { request, _ in seen.withLock { $0 = request.body.bytes } }
        let request = try await sent(.requestData(json), [GzipPlugin(requestCompression: .always), sign])
        #expect(seen.withLock { $0 } == request.body.bytes)
        #expect(seen.withLock { $0 }.flatMap(GzipBytes.gunzip) == json)
    }

    private struct SendingTwice: Stage.Intercept {
        func intercept(
            _ request: PipelineRequest,
            context: PipelineContext,
            next: Stage.Next
        ) async throws -> PipelineResponse {
            _ = try await next(request)
            return try await next(request)
        }
    }

    @Test(
        "Z12: each attempt sends the same bytes, whether the plugin is inside or outside",
        arguments: [true, false]
    )
    func retry(isInside: Bool) async throws {
        let json = json
        let gzip = GzipPlugin(requestCompression: .always)
        let stack: [any PluginType] = isInside ? [SendingTwice(), gzip] : [gzip, SendingTwice()]
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

    @Test("Outside a plugin that shares responses, a response is decoded for each caller; inside it, once")
    func shared() async throws {
        let kept = Mutex<PipelineResponse?>(nil)
        let share = PluginStack.intercept { request, _, next in
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

    @Test("Other failures pass through, and errors hold no part of a body")
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
        #expect(corrupt?.response?.body.isAbsent == true)
        #expect(corrupt?.exchanges.count == 1)
        var text = "\(String(describing: corrupt)) \(String(reflecting: corrupt))"
        dump(corrupt, to: &text)
        #expect(!text.contains("canary"))
        #expect(corrupt.map { error in if case .contentCoding = error.code { true } else { false } } == true)
    }

    @Test("Invalid settings trap with a message that gives their value")
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
