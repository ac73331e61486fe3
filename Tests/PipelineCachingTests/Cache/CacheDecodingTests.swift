import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting
import TestSupport
import Testing

@Suite("CachePlugin on a transport that decodes bodies", .watched)
struct CacheDecodingTests {
    private let tagged = CacheBench.control("max-age=60", [.eTag: "\"v\"", .acceptRanges: "bytes"])

    private func bench(_ fields: HTTPFields, _ body: PipelineBody? = nil) -> CacheBench {
        let transport = ScriptedTransport(decodesContent: true) { _, index in
            .status(200, headers: fields, body: body ?? .bytes(Data("\(index)".utf8)))
        }
        return CacheBench(transport)
    }

    @Test("K02 A stored response has the ETag of the origin and no Accept-Ranges", arguments: ["\"v\"", "W/\"v\""])
    func validators(tag: String) async throws {
        let bench = bench(CacheBench.control("max-age=60", [.eTag: tag, .acceptRanges: "bytes"]))
        #expect(try await bench.response().headers[.eTag] == tag)
        let hit = try await bench.response()
        #expect(hit.cacheStatus?.kind == .hit)
        #expect(hit.headers[.eTag] == tag)
        #expect(hit.headers[.acceptRanges] == nil)
        #expect(!hit.headers.contains { $0.name.canonicalName.hasPrefix("pipeline") })
        let confirmed = try await bench.response(Ask(headers: ["If-None-Match": tag]))
        #expect(confirmed.statusCode == 304)
        #expect(confirmed.headers[.eTag] == tag)
    }

    @Test("K02 A change with the ETag of a hit, or of a confirmed response, is accepted like one with that of the miss")
    func change() async throws {
        let fields = CacheBench.control("max-age=60", [.eTag: "\"v\""])
        let transport = ScriptedTransport(decodesContent: true) { request, _ in
            guard request.method == .get else { return .status(request.headers[.ifMatch] == "\"v\"" ? 204 : 412) }
            let isConfirmed = request.headers[.ifNoneMatch] != nil
            return .status(isConfirmed ? 304 : 200, headers: fields, body: isConfirmed ? "" : "a")
        }
        let bench = CacheBench(transport)
        for seconds in [0, 0, 100] {
            bench.clock.advance(by: .seconds(seconds))
            let tag = try #require(try await bench.response().headers[.eTag])
            let change = Ask(path: "/other", method: .put, headers: ["If-Match": tag])
            #expect(try await bench.response(change).statusCode == 204)
        }
        #expect(transport.sent.count { $0.method == .get } == 2)
    }

    @Test("A field of the origin with the name that the cache uses itself is not stored")
    func foreignField() async throws {
        var fields = CacheBench.control("max-age=60", [.eTag: "W/\"v\""])
        fields[.named("Pipeline-Origin-ETag")] = "\"evil\""
        for decodes in [true, false] {
            let transport = ScriptedTransport(always: .status(200, headers: fields, body: "a"), decodesContent: decodes)
            let bench = CacheBench(transport)
            _ = try await bench.response()
            let hit = try await bench.response()
            #expect(hit.cacheStatus?.kind == .hit)
            #expect(hit.headers[.eTag] == "W/\"v\"")
            #expect(!hit.headers.contains(.named("Pipeline-Origin-ETag")))
        }
    }

    @Test("A range with the ETag of the origin in If-Range gets the whole response")
    func ifRange() async throws {
        let bench = bench(tagged, .bytes(Data("0123456789".utf8)))
        _ = try await bench.response()
        let response = try await bench.response(Ask(headers: ["Range": "bytes=2-4", "If-Range": "\"v\""]))
        #expect(response.cacheStatus?.kind == .hit)
        #expect(response.statusCode == 200)
        #expect(response.data.count == 10)
    }

    @Test("A body may be longer than its Content-Length, which counts encoded bytes")
    func length() async throws {
        let bench = bench(CacheBench.control("max-age=60", [.contentLength: "3"]), .bytes(Data("0123456789".utf8)))
        _ = try await bench.response()
        #expect(try await bench.get() == "0123456789 hit")
    }

    @Test("Partial responses are not stored, neither those of the caller nor interrupted ones")
    func parts() async throws {
        let fields = CacheBench.control("max-age=60", [.eTag: "\"v\"", .contentRange: "bytes 0-0/3"])
        let (whole, interrupted) = (tagged, Ask(path: "/cut"))
        let transport = ScriptedTransport(decodesContent: true) { request, _ in
            if request.path == "/b" { return .status(206, headers: fields, body: "0") }
            let body = AsyncThrowingStream<Data, any Error> { stream in
                stream.yield(Data("0".utf8))
                stream.finish(throwing: PipelineError(.connectionLost, "by script"))
            }
            return .status(200, headers: whole, body: .stream(body, byteCount: 3))
        }
        let bench = CacheBench(transport)
        for _ in 1...2 {
            #expect(try await bench.get(Ask(headers: ["Range": "bytes=0-0"])) == "0 miss")
            await #expect(throws: PipelineError.self) { try await bench.response(interrupted) }
        }
        #expect(transport.sent.map { $0.headers[.range] } == ["bytes=0-0", nil, "bytes=0-0", nil])
    }

    @Test("A part that another transport has left in a shared store is not completed")
    func foreignPart() async throws {
        let store = MemoryCacheStore()
        let fields = CacheBench.control("max-age=60", [.eTag: "\"v\"", .contentLength: "6"])
        let plain = ScriptedTransport { _, _ in
            let body = AsyncThrowingStream<Data, any Error> { stream in
                stream.yield(Data("123".utf8))
                stream.finish(throwing: PipelineError(.connectionLost, "by script"))
            }
            return .status(200, headers: fields, body: .stream(body, byteCount: 6))
        }
        await #expect(throws: PipelineError.self) { try await CacheBench(plain, CachePlugin(store: store)).response() }
        let decoding = ScriptedTransport(always: .status(200, headers: fields, body: "123456"), decodesContent: true)
        let bench = CacheBench(decoding, CachePlugin(store: store))
        #expect(try await bench.get() == "123456 miss")
        #expect(decoding.sent.map { $0.headers[.range] } == [nil])
    }

    @Test("A response to HEAD with the same strong ETag confirms the stored response")
    func head() async throws {
        let bench = bench(tagged)
        _ = try await bench.response()
        _ = try await bench.response(Ask(method: .head), .reload)
        #expect(try await bench.get() == "0 hit")
    }
}
