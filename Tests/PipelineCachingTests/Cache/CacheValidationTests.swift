import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("CachePlugin validates", .tags(.concurrent), .watched)
struct CacheValidationTests {
    /// Responds with these fields at first, and in another way to a request with a condition.
    private func bench(
        _ fields: HTTPFields,
        _ cache: CachePlugin = CachePlugin(),
        then step: @escaping @Sendable (PipelineRequest) -> ScriptedTransport.Step?
    ) -> CacheBench {
        let transport = ScriptedTransport { request, index in
            (index > 0 ? step(request) : nil) ?? .status(200, headers: fields, body: "\(index)")
        }
        return CacheBench(transport, cache)
    }

    @Test("The request of a response shows the conditions of the caller, and not those of the cache")
    func ownConditions() async throws {
        let bench = bench(CacheBench.control("max-age=1", [.eTag: "\"v\"", .lastModified: "yesterday"])) { _ in nil }
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(10))
        let response = try await bench.response()
        #expect(bench.transport.sent[1].headers[.ifNoneMatch] == "\"v\"")
        #expect(response.request.headers[.ifNoneMatch] == nil)
        #expect(response.request.headers[.ifModifiedSince] == nil)
        bench.clock.advance(by: .seconds(10))
        let other = try await bench.response(Ask(headers: ["If-None-Match": "\"w\""]))
        #expect(other.request.headers[.ifNoneMatch] == "\"w\"")
    }

    @Test("A stale response with an ETag without quotation marks is validated with it", arguments: [false, true])
    func unquotedTag(decodes: Bool) async throws {
        let fields = CacheBench.control("max-age=1", [.eTag: "5f3a-1"])
        let transport = ScriptedTransport(decodesContent: decodes) { request, index in
            request.headers[.ifNoneMatch] == "5f3a-1"
                ? .status(304, headers: fields) : .status(200, headers: fields, body: "\(index)")
        }
        let bench = CacheBench(transport)
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(10))
        #expect(try await bench.get() == "0 revalidated")
        #expect(try await bench.response().headers[.eTag] == "5f3a-1")
    }

    @Test("A 304 with the ETag of another response confirms nothing, and the whole is requested")
    func otherTag() async throws {
        let fields = CacheBench.control("max-age=1", [.eTag: "\"v\""])
        let bench = bench(fields) { $0.headers.contains(.ifNoneMatch) ? .status(304, headers: [.eTag: "\"w\""]) : nil }
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(10))
        #expect(try await bench.get() == "2 miss")
        #expect(bench.transport.sent.map { $0.headers[.ifNoneMatch] } == [nil, "\"v\"", nil])
    }

    @Test("A 304 to the condition of the caller makes the stored response with its ETag fresh again")
    func callersCondition() async throws {
        let fields = CacheBench.control("max-age=60", [.eTag: "\"v\""])
        let bench = bench(fields) { $0.headers.contains(.ifNoneMatch) ? .status(304, headers: fields) : nil }
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(61))
        #expect(try await bench.response(Ask(headers: ["If-None-Match": "\"v\", \"w\""])).statusCode == 304)
        #expect(try await bench.get() == "0 hit")
    }

    @Test(
        "K03: a 304 that forbids to store the response is served, and then the stored response is removed",
        arguments: ["no-store, max-age=600", "no-store"],
        [true, false]
    )
    func forbidden(control: String, isCallersCondition: Bool) async throws {
        let fields = CacheBench.control("max-age=60", [.eTag: "\"v\""])
        let bench = bench(fields) {
            $0.headers.contains(.ifNoneMatch)
                ? .status(304, headers: CacheBench.control(control, [.eTag: "\"v\""])) : nil
        }
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(61))
        if isCallersCondition {
            #expect(try await bench.response(Ask(headers: ["If-None-Match": "\"v\""])).statusCode == 304)
        } else {
            #expect(try await bench.get() == "0 revalidated")
        }
        #expect(try await bench.response(Ask(), .offline).statusCode == 504)
        #expect(try await bench.get() == "2 miss")
    }

    @Test(
        "K03: a 304 with private is served, and then removes the stored response of a shared cache",
        arguments: [true, false],
        [true, false]
    )
    func privateResponse(isShared: Bool, isCallersCondition: Bool) async throws {
        let tag: HTTPFields = [.eTag: "\"v\""]
        let log = StoreLog()
        let cache = CachePlugin(store: WatchedStore { log.add($0) }, rules: isShared ? .shared : .private)
        let bench = bench(CacheBench.control("max-age=60", tag), cache) {
            $0.headers.contains(.ifNoneMatch)
                ? .status(304, headers: CacheBench.control("private, max-age=600", tag)) : nil
        }
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(61))
        if isCallersCondition {
            #expect(try await bench.response(Ask(headers: ["If-None-Match": "\"v\""])).statusCode == 304)
        } else {
            #expect(try await bench.get() == "0 revalidated")
        }
        #expect(try await bench.response(Ask(), .offline).statusCode == (isShared ? 504 : 200))
        #expect(log.count(of: .remove) == (isShared ? 1 : 0))
        #expect(try await bench.get() == (isShared ? "2 miss" : "0 hit"))
    }

    @Test("An error to a conditional request of the caller leaves the stored response alone")
    func conditionalError() async throws {
        let fields = CacheBench.control("max-age=60", [.eTag: "\"v\""])
        let bench = bench(fields) { $0.headers.contains(.ifMatch) ? .status(412) : nil }
        #expect(try await bench.get() == "0 miss")
        #expect(try await bench.response(Ask(headers: ["If-Match": "\"w\""])).statusCode == 412)
        #expect(try await bench.get() == "0 hit")
    }

    @Test("A failure of the origin leaves the stored response alone", arguments: [500, 503])
    func failure(status: Int) async throws {
        let bench = bench(CacheBench.control("max-age=60")) { _ in .status(status) }
        #expect(try await bench.get() == "0 miss")
        #expect(try await bench.response(Ask(), .reload).statusCode == status)
        #expect(try await bench.get() == "0 hit")
    }

    @Test("RFC 9111 §4.1: a 304 with another Vary changes which requests get the response")
    func changedVary() async throws {
        let fields = CacheBench.control("max-age=60", [.eTag: "\"v\""])
        let bench = bench(fields) { request in
            var confirmed = fields
            confirmed[.vary] = "Accept-Language"
            return request.headers.contains(.ifNoneMatch) ? .status(304, headers: confirmed) : nil
        }
        let german = Ask(headers: ["Accept-Language": "de"])
        #expect(try await bench.get(german) == "0 miss")
        bench.clock.advance(by: .seconds(61))
        #expect(try await bench.get(german) == "0 revalidated")
        #expect(try await bench.get(german) == "0 hit")
        #expect(try await bench.get() == "2 miss")
    }

    @Test("RFC 9111 §4.1: a response that a 304 with Vary: * confirms is removed, and requested as a whole")
    func varyStar() async throws {
        let fields = CacheBench.control("max-age=60", [.eTag: "\"v\""])
        let bench = bench(fields) { request in
            var confirmed = fields
            confirmed[.vary] = "*"
            return request.headers.contains(.ifNoneMatch) ? .status(304, headers: confirmed) : nil
        }
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(61))
        #expect(try await bench.get() == "2 miss")
        #expect(try await bench.get() == "2 hit")
    }

    @Test(
        "RFC 5861 §4: a stale response replaces an error and a 5xx, also if it has no validator",
        arguments: [true, false],
        [500, 502, 503, 504, 0]
    )
    func staleIfError(hasTag: Bool, status: Int) async throws {
        let fields = CacheBench.control("max-age=60, stale-if-error=60", hasTag ? [.eTag: "\"v\""] : [:])
        let bench = bench(fields) { _ in status == 0 ? .failure(.connectionLost) : .status(status) }
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(120))
        #expect(try await bench.get() == "0 stale")
        bench.clock.advance(by: .seconds(1))
        let late = try? await bench.response()
        #expect(late?.statusCode == (status == 0 ? nil : status))
    }

    @Test("RFC 5861 §4: only the status codes 500, 502, 503 and 504 are failures", arguments: [404, 501, 505])
    func otherStatus(status: Int) async throws {
        let fields = CacheBench.control("max-age=60, stale-if-error=60", [.eTag: "\"v\""])
        let bench = bench(fields) { _ in .status(status) }
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(61))
        #expect(try await bench.response().statusCode == status)
    }

    @Test("A cancelled call gets no stale response in place of its cancellation")
    func cancelled() async throws {
        let fields = CacheBench.control("max-age=60, stale-if-error=600", [.eTag: "\"v\""])
        let bench = bench(fields) { _ in .hang }
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(61))
        let call = Task { try await bench.get() }
        try await bench.transport.waitForRequests(2)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
    }

    // MARK: Background

    private let background = CacheBench.control("max-age=60, stale-while-revalidate=600", [.eTag: "\"v\""])

    @Test("RFC 5861 §3: a background request is conditional, and its 304 makes the response fresh again")
    func confirmedInBackground() async throws {
        let fields = background
        let bench = bench(fields) { $0.headers[.ifNoneMatch] == "\"v\"" ? .status(304) : .status(500) }
        #expect(try await bench.get() == "0 miss")
        for _ in 1...2 {
            bench.clock.advance(by: .seconds(61))
            #expect(try await bench.get() == "0 stale")
            #expect(await bench.provider.drain(within: .seconds(1)))
            #expect(try await bench.get() == "0 hit")
        }
        #expect(bench.transport.sent.count == 3)
    }

    @Test(
        "A response of a background request is stored without being in memory, and not if it is interrupted",
        arguments: [false, true],
        [[:], [.eTag: "\"v\"", .contentLength: "1000"]] as [HTTPFields]
    )
    func largeInBackground(isInterrupted: Bool, more: HTTPFields) async throws {
        let fields = CacheBench.control("max-age=60, stale-while-revalidate=600", more)
        let transport = ScriptedTransport { _, index in
            let isCut = isInterrupted && index == 1
            let piece = Data(repeating: UInt8(ascii: "0") + UInt8(index), count: 100)
            let pieces = AsyncThrowingStream<Data, any Error> { continuation in
                for _ in 0..<(isCut ? 5 : 10) { continuation.yield(piece) }
                continuation.finish(throwing: isCut ? PipelineError(.connectionLost, "") : nil)
            }
            return .status(200, headers: fields, body: .stream(pieces))
        }
        let clock = ManualClock()
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [CachePlugin(), PluginStack.didReceive { _, _ in }],
            configuration: .init(limits: ProviderConfiguration.Limits(bufferedBodyByteCount: 500), clock: clock)
        )
        func read() async throws -> String {
            let response = try await provider.stream(Ask())
            var text = ""
            for try await piece in response.body { text += String(decoding: piece, as: UTF8.self) }
            return text
        }
        let (old, new) = (String(repeating: "0", count: 1_000), String(repeating: "1", count: 1_000))
        #expect(try await read() == old)
        clock.advance(by: .seconds(61))
        #expect(try await read() == old)
        #expect(await provider.drain(within: .seconds(1)))
        #expect(try await read() == (isInterrupted ? old : new))
        #expect(await provider.drain(within: .seconds(1)))
    }

    @Test("A background request ends when the store does not take more of its response")
    func endlessInBackground() async throws {
        let fields = CacheBench.control("max-age=60, stale-while-revalidate=600")
        let transport = ScriptedTransport { _, index in
            let endless = AsyncStream<Data> { Data(count: 1_000) }
            return .status(200, headers: fields, body: index == 0 ? .bytes(Data(count: 10)) : .stream(endless))
        }
        let cache = CachePlugin(store: MemoryCacheStore(maximumByteCount: 1 << 20, maximumBodyByteCount: 100_000))
        let bench = CacheBench(transport, cache)
        _ = try await bench.response()
        bench.clock.advance(by: .seconds(61))
        #expect(try await bench.response().cacheStatus?.kind == .stale)
        await eventually { bench.transport.sent.count == 2 }
        #expect(await bench.provider.drain(within: .seconds(600)))
        #expect(try await bench.response().cacheStatus?.kind == .stale)
        bench.provider.shutdown()
    }

    @Test("A background request that fails leaves the stored response alone", arguments: [0, 500, 503])
    func failedInBackground(status: Int) async throws {
        let failing = CacheBench.control("max-age=600")
        let bench = bench(background) { _ in
            status == 0 ? .failure(.connectionLost) : .status(status, headers: failing)
        }
        #expect(try await bench.get() == "0 miss")
        bench.clock.advance(by: .seconds(61))
        for count in 2...3 {
            #expect(try await bench.get() == "0 stale")
            #expect(await bench.provider.drain(within: .seconds(1)))
            #expect(bench.transport.sent.count == count)
        }
    }

    @Test("Of two providers with a common store, one sends the background request, or the other one 30 s later")
    func commonStore() async throws {
        let store = MemoryCacheStore()
        let first = bench(background, CachePlugin(store: store)) { _ in .hang }
        let second = CacheBench(background, CachePlugin(store: store))
        #expect(try await first.get() == "0 miss")
        for bench in [first, second] { bench.clock.advance(by: .seconds(61)) }
        #expect(try await first.get() == "0 stale")
        try await first.transport.waitForRequests(2)
        #expect(try await second.get() == "0 stale")
        #expect(await second.provider.drain(within: .seconds(1)))
        #expect(second.transport.sent.isEmpty)
        second.clock.advance(by: .seconds(30))
        #expect(try await second.get() == "0 stale")
        #expect(await second.provider.drain(within: .seconds(1)))
        #expect(second.transport.sent.count == 1)
        first.provider.shutdown()
    }

    @Test("A background request that is refused leaves the lock to others")
    func refused() async throws {
        let store = MemoryCacheStore()
        let first = bench(background, CachePlugin(store: store)) { _ in nil }
        let second = CacheBench(background, CachePlugin(store: store))
        #expect(try await first.get() == "0 miss")
        for bench in [first, second] { bench.clock.advance(by: .seconds(61)) }
        first.provider.shutdown()
        #expect(try await first.get() == "0 stale")
        #expect(first.transport.sent.count == 1)
        #expect(try await second.get() == "0 stale")
        #expect(await second.provider.drain(within: .seconds(1)))
        #expect(second.transport.sent.count == 1)
    }
}
