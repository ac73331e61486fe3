#if canImport(FoundationNetworking)
import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineTesting
import PipelineTransports
import TestSupport
import Testing

@Suite("URLSessionTransport on Linux: content codings", .realTime, .watched)
struct URLSessionCodingTests {
    /// The first half of 100 bytes in gzip, in one stored block; Foundation takes it for whole.
    private static let half = Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1, 100, 0, 155, 255]) + Data(count: 50)

    @Test(
        "F15: half of a compressed body is annotated and never stored, whether the caller asks for it or not",
        arguments: [true, false]
    )
    func unverified(asks: Bool) async throws {
        let server = try LoopbackServer { _ in
            let fields = [("Content-Encoding", "gzip"), ("Cache-Control", "max-age=60")]
            return [.respond(200, headers: fields, body: Self.half)]
        }
        defer { server.stop() }
        let provider = Provider<URLTarget>(transport: URLSessionTransport(), plugins: [CachePlugin()])
        let target = URLTarget(server.url.absoluteString, headers: asks ? ["Accept-Encoding": "gzip"] : [:])
        for _ in 0..<2 {
            let response = try await provider.request(target)
            #expect(response.data.count == 50)
            #expect(response.cacheStatus?.isStored == false && response.source == .network)
            #expect(response.exchanges.last?.annotations.map(\.event).contains("unverifiedCoding") == true)
        }
        let asked = server.requests.flatMap { $0.values(of: "Accept-Encoding") }
        #expect(asked == Array(repeating: asks ? "gzip" : "identity", count: 2))
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
