#if canImport(FoundationNetworking)
import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("URLSessionTransport on Linux: content codings", .realTime, .watched)
struct URLSessionCodingTests {
    /// The first half of 100 bytes in one stored block of each coding; Foundation takes it for whole.
    private static let halves: [(coding: String, body: Data)] = [
        ("gzip", Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1, 100, 0, 155, 255]) + Data(count: 50)),
        ("deflate", Data([0x78, 1, 1, 100, 0, 155, 255]) + Data(count: 50)),
        ("br", Data([0x30, 6, 0x10]) + Data(count: 50)),
    ]

    @Test(
        "F15: half of a compressed body is annotated, never stored and never completed by a range",
        arguments: halves,
        [true, false]
    )
    func unverified(half: (coding: String, body: Data), asks: Bool) async throws {
        let server = try LoopbackServer { _ in
            let fields = [
                ("Content-Encoding", half.coding), ("Cache-Control", "max-age=60"), ("ETag", "\"v\""),
                ("Accept-Ranges", "bytes"),
            ]
            return [.respond(200, headers: fields, body: half.body)]
        }
        defer { server.stop() }
        let provider = Provider<URLTarget>(transport: URLSessionTransport(), plugins: [CachePlugin()])
        let target = URLTarget(server.url.absoluteString, headers: asks ? ["Accept-Encoding": half.coding] : [:])
        for _ in 0..<2 {
            let response = try await provider.request(target)
            #expect(response.data.count == 50)
            #expect(response.cacheStatus?.isStored == false && response.source == .network)
            let events = response.exchanges.last?.annotations.map(\.event) ?? []
            #expect(events.contains("unverifiedCoding") && events.contains("requestedCoding") == asks)
        }
        let asked = server.requests.flatMap { $0.values(of: "Accept-Encoding") }
        #expect(asked == Array(repeating: asks ? half.coding : "identity", count: 2))
        #expect(server.requests.allSatisfy { $0.values(of: "Range").isEmpty })
    }

    @Test(
        "F15: a request for a content coding is annotated, from a plugin or the caller, even if the response has none",
        arguments: [
            ("gzip", true), ("br;q=0.5, identity", true), ("*", true), ("identity;q=1, gzip; q=0.0", false),
            ("identity", false), ("", false),
        ]
    )
    func requested(accepted: String, isCoding: Bool) async throws {
        let server = try LoopbackServer { _ in [.respond(200, body: "ab")] }
        defer { server.stop() }
        let asking: any PluginType = .prepare(name: "asks") { request, _ in
            request.headers[.acceptEncoding] = accepted
        }
        for (plugins, fields) in [([asking], [:]), ([], ["Accept-Encoding": accepted])] {
            let provider = Provider<URLTarget>(transport: URLSessionTransport(), plugins: plugins)
            let response = try await provider.request(URLTarget(server.url.absoluteString, headers: fields))
            #expect(response.exchanges.flatMap(\.annotations).map(\.event) == (isCoding ? ["requestedCoding"] : []))
        }
    }

    @Test("F15: GzipPlugin asks for no coding on Linux")
    func plugin() async throws {
        let server = try LoopbackServer { _ in [.respond(200, body: "ab")] }
        defer { server.stop() }
        let provider = Provider<URLTarget>(transport: URLSessionTransport(), plugins: [GzipPlugin()])
        #expect(
            try await provider.request(URLTarget(server.url.absoluteString)).exchanges.allSatisfy(\.annotations.isEmpty)
        )
    }

    @Test("F15: a coded part never completes a partial download, even if it decodes to the missing number of bytes")
    func codedPart() async throws {
        let requestCount = Atomic(0)
        let server = try LoopbackServer { request in
            if requestCount.add(1, ordering: .relaxed).oldValue == 0 {
                let head = "HTTP/1.1 200 OK\r\nETag: \"v\"\r\nContent-Length: 10\r\n\r\n"
                return [.send(head + "0123"), .hold("4"), .close]
            }
            guard request.values(of: "Range") == ["bytes=4-"] else { return [.respond(200, body: "0123456789")] }
            let fields = [("ETag", "\"v\""), ("Content-Range", "bytes 4-9/10"), ("Content-Encoding", "gzip")]
            return [.respond(206, headers: fields, body: Deflate.gzip(Data("broken".utf8)))]
        }
        defer { server.stop() }
        let folder = try TemporaryFolder()
        let destination = DownloadDestination.file(folder.file("done")).resumable(at: folder.file("part"))
        let target = Probe(server, task: .downloadDestination(destination))
        let retry = RetryPlugin(maximumAttempts: 2, backoff: .immediate)
        let provider = Provider<Probe>(transport: URLSessionTransport(), plugins: [retry])
        for try await step in provider.requestWithProgress(target) { server.release("\(step.received.byteCount)") }
        #expect(folder.text(of: "done") == "0123456789")
        #expect(server.requests.map { $0.values(of: "Range") } == [[], ["bytes=4-"], []])
    }

    @Test("F15: a request with Range asks for no coding, even if the caller does")
    func range() async throws {
        let server = try LoopbackServer { _ in
            [.respond(206, headers: [("Content-Range", "bytes 0-1/9")], body: Data("ab".utf8))]
        }
        defer { server.stop() }
        let provider = Provider<URLTarget>(transport: URLSessionTransport())
        let fields = ["Range": "bytes=0-1", "Accept-Encoding": "gzip"]
        let response = try await provider.request(URLTarget(server.url.absoluteString, headers: fields))
        #expect(response.data == Data("ab".utf8))
        #expect(server.requests.flatMap { $0.values(of: "Accept-Encoding") } == ["identity"])
    }

    @Test("F15: what is not compressed is stored as before")
    func plain() async throws {
        let server = try LoopbackServer { _ in
            [.respond(200, headers: [("Cache-Control", "max-age=60")], body: Data("ab".utf8))]
        }
        defer { server.stop() }
        let provider = Provider<URLTarget>(transport: URLSessionTransport(), plugins: [CachePlugin()])
        for source in [PipelineResponse.Source.network, .cache] {
            #expect(try await provider.request(URLTarget(server.url.absoluteString)).source == source)
        }
    }
}
#endif
