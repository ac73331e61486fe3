import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting
import TestSupport
import Testing

@Suite("CachePlugin and partial responses", .watched)
struct CachePartTests {
    private let content = Data("0123456789".utf8)
    private let tagged = CacheBench.control("max-age=60", [.eTag: "\"v\"", .contentLength: "10"])

    /// Interrupts the first response after a number of bytes, and responds to later requests in another way.
    private func transport(
        _ first: HTTPFields,
        status: Int = 200,
        byteCount: Int = 3,
        then step: @escaping @Sendable (PipelineRequest) -> ScriptedTransport.Step
    ) -> ScriptedTransport {
        let beginning = content.prefix(byteCount)
        return ScriptedTransport { request, index in
            guard index == 0 else { return step(request) }
            let body = AsyncThrowingStream<Data, any Error> { stream in
                if !beginning.isEmpty { stream.yield(beginning) }
                stream.finish(throwing: PipelineError(.connectionLost, "by script"))
            }
            return .status(
                status,
                headers: first,
                body: .stream(body, byteCount: first[.contentLength].flatMap { Int($0) })
            )
        }
    }

    private func interrupted(_ bench: CacheBench) async {
        await #expect(throws: PipelineError.self) { try await bench.response() }
    }

    // MARK: What is kept

    @Test(
        "The beginning of an interrupted response is kept only with a strong ETag, a length, status 200 and bytes",
        arguments: [
            (200, [.eTag: "\"v\"", .contentLength: "10"], 3, "bytes=3-"),
            (200, [.eTag: "W/\"v\"", .contentLength: "10"], 3, nil), (200, [.contentLength: "10"], 3, nil),
            (200, [.eTag: "\"v\""], 3, nil), (404, [.eTag: "\"v\"", .contentLength: "10"], 3, nil),
            (200, [.eTag: "\"v\"", .contentLength: "10"], 0, nil),
            (200, [.eTag: "\"v\"", .contentLength: "10"], 10, nil),
        ] as [(Int, HTTPFields, Int, String?)]
    )
    func kept(status: Int, fields: HTTPFields, byteCount: Int, range: String?) async throws {
        let fields = CacheBench.control("max-age=60", fields)
        let transport = transport(fields, status: status, byteCount: byteCount) { _ in .status(500) }
        let bench = CacheBench(transport)
        await interrupted(bench)
        let response = try await bench.response()
        #expect(response.statusCode == 500)
        #expect(transport.sent.last?.headers[.range] == range)
        #expect(transport.sent.count == 2)
    }

    @Test("A body without a length that ends because the call was cancelled is not stored as a whole")
    func cancelled() async throws {
        let fields = CacheBench.control("max-age=60")
        let (chunks, input) = AsyncStream<Data>.makeStream()
        let transport = ScriptedTransport { _, index in
            .status(200, headers: fields, body: index == 0 ? .stream(chunks) : .bytes(Data("whole".utf8)))
        }
        let bench = CacheBench(transport)
        let response = try await bench.provider.stream(Ask())
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        let reader = Task { for try await _ in response.body { arrival.yield() } }
        input.yield(Data("beginning".utf8))
        for await _ in arrivals { break }
        reader.cancel()
        _ = await reader.result
        #expect(try await bench.get() == "whole miss")
    }

    @Test("A cancelled download leaves its beginning in a store that takes time")
    func cancelledDownload() async throws {
        let (fields, rest) = (tagged, content.dropFirst(3))
        let (chunks, input) = AsyncStream<Data>.makeStream()
        let transport = ScriptedTransport { _, index in
            guard index > 0 else { return .status(200, headers: fields, body: .stream(chunks, byteCount: 10)) }
            var part = fields
            part[.contentRange] = "bytes 3-9/10"
            part[.contentLength] = "7"
            return .status(206, headers: part, body: .bytes(rest))
        }
        let bench = CacheBench(transport, CachePlugin(store: WatchedStore { _ in }))
        let response = try await bench.provider.stream(Ask())
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        let reader = Task { for try await _ in response.body { arrival.yield() } }
        input.yield(content.prefix(3))
        for await _ in arrivals { break }
        reader.cancel()
        _ = await reader.result
        #expect(try await bench.response().data == content)
        #expect(transport.sent.last?.headers[.range] == "bytes=3-")
    }

    // MARK: The rest

    @Test("A completed response looks as if it had arrived as a whole, with the cookies of its rest")
    func completed() async throws {
        let (fields, rest) = (tagged, content.dropFirst(3))
        let transport = transport(fields) { _ in
            var part = fields
            part[.contentRange] = "bytes 3-9/10"
            part[.contentLength] = "7"
            part[.setCookie] = "n=1"
            return .status(206, headers: part, body: .bytes(rest))
        }
        let bench = CacheBench(transport)
        await interrupted(bench)
        let response = try await bench.response()
        #expect(response.data == content)
        #expect(response.headers[.contentLength] == "10")
        #expect(response.headers[.contentRange] == nil)
        #expect(response.headers[.setCookie] == "n=1")
        #expect(transport.sent.last?.headers[.ifRange] == "\"v\"")
        #expect(response.request.headers[.range] == nil)
        #expect(response.request.headers[.ifRange] == nil)
        #expect(try await bench.response().headers[.setCookie] == nil)
        #expect(transport.sent.count == 2)
    }

    @Test(
        "If the rest does not continue the beginning, the whole is requested",
        arguments: [
            (416, [.contentRange: "bytes */2"]), (206, [.eTag: "\"w\"", .contentRange: "bytes 3-9/10"]),
            (206, [.eTag: "\"v\"", .contentRange: "bytes 3-5/10"]),
            (206, [.eTag: "\"v\"", .contentRange: "bytes 4-9/10"]),
            (206, [.eTag: "\"v\"", .contentRange: "bytes 3-10/11"]), (206, [.eTag: "\"v\""]),
        ] as [(Int, HTTPFields)]
    )
    func noContinuation(status: Int, part: HTTPFields) async throws {
        let fields = CacheBench.control("max-age=60")
        let transport = transport(tagged) { request in
            request.headers.contains(.range)
                ? .status(status, headers: part, body: "xxxxxxx") : .status(200, headers: fields, body: "new")
        }
        let bench = CacheBench(transport)
        await interrupted(bench)
        #expect(try await bench.get() == "new miss")
        #expect(try await bench.get() == "new hit")
        #expect(transport.sent.map { $0.headers[.range] } == [nil, "bytes=3-", nil])
    }

    @Test("If the origin responds to the request for the rest with the whole, that is the response")
    func wholeInstead() async throws {
        let fields = CacheBench.control("max-age=60")
        let bench = CacheBench(transport(tagged) { _ in .status(200, headers: fields, body: "new") })
        await interrupted(bench)
        #expect(try await bench.get() == "new miss")
        #expect(try await bench.get() == "new hit")
    }

    @Test("A part for which stale-if-error is permitted is completed as well")
    func staleIfError() async throws {
        let fields = CacheBench.control("max-age=1, stale-if-error=600", tagged)
        let transport = transport(fields) { _ in .status(503) }
        let bench = CacheBench(transport)
        await interrupted(bench)
        bench.clock.advance(by: .seconds(10))
        #expect(try await bench.response().statusCode == 503)
        #expect(transport.sent.last?.headers[.range] == "bytes=3-")
    }

    // MARK: Ranges of the caller

    private func ranges(_ part: HTTPFields, _ body: String) -> ScriptedTransport {
        let fields = CacheBench.control("max-age=60", part)
        return ScriptedTransport { request, _ in
            request.headers.contains(.range)
                ? .status(206, headers: fields, body: body) : .status(200, headers: [:], body: "0123456789")
        }
    }

    @Test("A part that the caller requested serves ranges within it, and nothing else")
    func storedPart() async throws {
        let transport = ranges([.eTag: "\"v\"", .contentRange: "bytes 4-7/10", .contentLength: "4"], "4567")
        let bench = CacheBench(transport)
        #expect(try await bench.get(Ask(headers: ["Range": "bytes=4-7"])) == "4567 miss")
        let part = try await bench.response(Ask(headers: ["Range": "bytes=5-6"]))
        #expect(part.statusCode == 206)
        #expect(part.data == Data("56".utf8))
        #expect(part.headers[.contentRange] == "bytes 5-6/10")
        #expect(try await bench.response(Ask(method: .head)).headers[.contentLength] == "10")
        #expect(transport.sent.count == 1)
        #expect(try await bench.get(Ask(headers: ["Range": "bytes=3-4"])) == "4567 miss")
        #expect(try await bench.response().data == content)
    }

    @Test("A part at the beginning is not the whole")
    func firstPart() async throws {
        let transport = ranges([.eTag: "\"v\"", .contentRange: "bytes 0-3/10"], "0123")
        let bench = CacheBench(transport)
        _ = try await bench.response(Ask(headers: ["Range": "bytes=0-3"]))
        #expect(try await bench.response(Ask(), .onlyIfCached).statusCode == 504)
        #expect(try await bench.get(Ask(headers: ["Range": "bytes=0-3"])) == "0123 hit")
    }

    @Test("A part with another number of bytes than its Content-Range is not stored", arguments: ["012", "01234"])
    func wrongLength(body: String) async throws {
        let transport = ranges([.eTag: "\"v\"", .contentRange: "bytes 0-3/10"], body)
        let bench = CacheBench(transport)
        for _ in 1...2 { #expect(try await bench.get(Ask(headers: ["Range": "bytes=0-3"])) == "\(body) miss") }
    }

    @Test(
        "A range of a body that the store reads in pieces has the right bytes",
        arguments: [(2, 4), (65_000, 140_000)]
    )
    func pieces(first: Int, last: Int) async throws {
        let body = Data((0..<150_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        let fields = CacheBench.control("max-age=60", [.contentLength: "150000"])
        let transport = ScriptedTransport(always: .status(200, headers: fields, body: .bytes(body)))
        let log = StoreLog()
        let bench = CacheBench(transport, CachePlugin(store: WatchedStore(before: log.add)))
        _ = try await bench.response()
        #expect(try await bench.response().data == body)
        #expect(log.count(of: .read) == 3)
        let part = try await bench.response(Ask(headers: ["Range": "bytes=\(first)-\(last)"]))
        #expect(part.data == body[first...last])
        #expect(transport.sent.count == 1)
    }
}
