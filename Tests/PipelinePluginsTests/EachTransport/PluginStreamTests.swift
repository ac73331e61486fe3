import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Streams through plugins", .tags(.concurrent), .realTime, .watched)
struct PluginStreamTests {
    private static func transports() -> [any Transport] {
        #if AsyncHTTPClient
        [URLSessionTransport(), AsyncHTTPClientTransport()]
        #else
        [URLSessionTransport()]
        #endif
    }

    private static func chunk(_ data: Data) -> LoopbackServer.Action {
        .send(Data("\(String(data.count, radix: 16))\r\n".utf8) + data + Data("\r\n".utf8))
    }

    @Test("An event in a gzip stream passes GzipPlugin and a log while the server holds back the rest")
    func gzip() async throws {
        for transport in Self.transports() {
            let pieces = FlushedGzip.pieces(["data: first\n\n", "data: second\n\n"])
            let server = try LoopbackServer { _ in
                [
                    .send(
                        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n"
                            + "Transfer-Encoding: chunked\r\n\r\n"
                    ),
                    Self.chunk(pieces[0]), .hold("second"), Self.chunk(pieces[1]), .hold("end"), Self.chunk(pieces[2]),
                    .send("0\r\n\r\n"),
                ]
            }
            defer { server.stop() }
            let lines = LogLines()
            let plugins: [any PluginType] = [LoggingPlugin(level: .trace, handler: lines.handler), GzipPlugin()]
            let provider = Provider<Ask>(transport: transport, plugins: plugins)
            let answer = try await provider.stream(Ask(url: server.url.absoluteString))
            var events = answer.serverSentEvents().makeAsyncIterator()
            #expect(try await events.next()?.data == "first", "\(type(of: transport))")
            server.release("second")
            #expect(try await events.next()?.data == "second")
            server.release("end")
            #expect(try await events.next() == nil)
            #expect(!lines.text.contains("first"))
            #expect(lines.text.contains("200"))
        }
    }

    @Test("S01 Without GzipPlugin, a gzip stream fails with contentCoding.unsupported, unless the transport decodes it")
    func withoutPlugin() async throws {
        for transport in Self.transports() {
            let pieces = FlushedGzip.pieces(["data: first\n\n"])
            let server = try LoopbackServer { _ in
                [
                    .send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n"),
                    .send(pieces[0]), .stall,
                ]
            }
            defer { server.stop() }
            let provider = Provider<Ask>(transport: transport, configuration: .init(clock: ManualClock()))
            var data: [String] = []
            var failure: PipelineError?
            do {
                for try await event in provider.serverSentEvents(Ask(url: server.url.absoluteString)) {
                    data.append(event.data)
                    break
                }
            } catch let error as PipelineError {
                failure = error
            }
            #expect(data == (transport.decodesContent ? ["first"] : []))
            #expect(failure?.code == (transport.decodesContent ? nil : .contentCoding(.unsupported)))
            try await server.wait { $0.openConnectionCount == 0 }
        }
    }

    @Test("A reader that leaves the loop closes the connection through both plugins")
    func leaving() async throws {
        for transport in Self.transports() {
            let pieces = FlushedGzip.pieces(["data: first\n\n"])
            let server = try LoopbackServer { _ in
                [
                    .send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n\r\n"),
                    .send(pieces[0]), .stall,
                ]
            }
            defer { server.stop() }
            let plugins: [any PluginType] = [LoggingPlugin(level: .trace, handler: LogLines().handler), GzipPlugin()]
            let provider = Provider<Ask>(transport: transport, plugins: plugins)
            for try await event in provider.serverSentEvents(Ask(url: server.url.absoluteString)) {
                #expect(event.data == "first")
                break
            }
            try await server.wait { $0.openConnectionCount == 0 }
        }
    }

    @Test("A subscription to a gzip stream that is cut off resumes from its last complete event")
    func cut() async throws {
        let pieces = FlushedGzip.pieces(["id: 1\ndata: first\n\n", "data: second\n\n"])
        let headers: HTTPFields = [.contentType: "text/event-stream", .contentEncoding: "gzip"]
        let transport = ScriptedTransport([
            .status(200, headers: headers, body: .bytes(pieces[0])), .status(204),
        ])
        let clock = ManualClock()
        let provider = Provider<Ask>(transport: transport, plugins: [GzipPlugin()], configuration: .init(clock: clock))
        let reading = Task {
            var data: [String] = []
            for try await event in provider.serverSentEvents(Ask()) { data.append(event.data) }
            return data
        }
        #expect(try await clock.advanceToNextSleeper() == .seconds(3))
        #expect(try await reading.value == ["first"])
        #expect(transport.sent.last?.headers[HTTPField.Name("Last-Event-ID") ?? .accept] == "1")
    }
}
