import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("CachePlugin stores", .tags(.concurrent), .watched)
struct CacheStoringTests {
    private let fresh = CacheBench.control("max-age=600")

    private func stream(_ pieces: [Data], pause: @escaping @Sendable () -> Void = {}) -> ScriptedTransport {
        let fields = fresh
        return ScriptedTransport { _, _ in
            let body = AsyncStream<Data>(unfolding: Pieces(pieces, pause).next)
            return .status(200, headers: fields, body: .stream(body))
        }
    }

    /// Returns pieces one after another, and calls a closure before each.
    private final class Pieces: Sendable {
        private let pieces: Mutex<ArraySlice<Data>>
        private let pause: @Sendable () -> Void

        init(_ pieces: [Data], _ pause: @escaping @Sendable () -> Void) {
            self.pieces = Mutex(pieces[...])
            self.pause = pause
        }

        @Sendable func next() async -> Data? {
            pause()
            return pieces.withLock { $0.popFirst() }
        }
    }

    // MARK: Slow and failing stores

    @Test("After a failed write, nothing more of a body is written, and the call gets all of it")
    func failedWrite() async throws {
        let log = StoreLog()
        let store = WatchedStore { method in
            log.add(method)
            if method == .append { throw PipelineError(.transport, "by script") }
        }
        let bench = CacheBench(stream(["a", "b", "c"].map { Data($0.utf8) }), CachePlugin(store: store))
        for number in 1...2 {
            #expect(try await bench.response().data == Data("abc".utf8))
            #expect(log.count(of: .append) == number)
        }
        #expect(log.count(of: .finish) == 0)
    }

    @Test(
        "A store that takes more than 1 s in all is given up, unless the origin or 8 MiB/s take as long",
        arguments: [(1, Duration.zero, 2), (1, .seconds(1), 5), (8 << 20, .zero, 5)]
    )
    func slowStore(byteCount: Int, pause: Duration, expected: Int) async throws {
        let clock = Mutex<ManualClock?>(nil)
        let advance: @Sendable (Duration) -> Void = { duration in clock.withLock { $0 }?.advance(by: duration) }
        let log = StoreLog()
        let store = WatchedStore(MemoryCacheStore(maximumByteCount: 1 << 30)) { method in
            log.add(method)
            if method == .append { advance(.milliseconds(900)) }
        }
        let transport = stream(Array(repeating: Data(count: byteCount), count: 5)) { advance(pause) }
        let bench = CacheBench(transport, CachePlugin(store: store))
        clock.withLock { $0 = bench.clock }
        #expect(try await bench.response().data.count == 5 * byteCount)
        #expect(log.count(of: .append) == expected)
        #expect(log.count(of: .finish) == (expected == 5 ? 1 : 0))
    }

    @Test("A store gets the length of a body before its bytes, so that it can refuse one that is too large")
    func announced() async throws {
        let log = StoreLog()
        let store = WatchedStore(MemoryCacheStore(maximumByteCount: 1 << 20, maximumBodyByteCount: 10), before: log.add)
        let body = PipelineBody.bytes(Data(count: 11))
        let bench = CacheBench(
            ScriptedTransport(always: .status(200, headers: fresh, body: body)),
            CachePlugin(store: store)
        )
        #expect(try await bench.response().cacheStatus?.isStored == false)
        #expect(log.count(of: .append) == 0)
    }

    @Test("A call whose entry is replaced before its body is open uses the new one")
    func replacedDuringLookup() async throws {
        let memory = MemoryCacheStore()
        let other = CacheBench(fresh, CachePlugin(store: memory))
        #expect(try await other.get() == "1 miss")
        let log = StoreLog()
        let store = WatchedStore(memory) { method in
            log.add(method)
            if method == .body, log.count(of: .body) == 1 { _ = try await other.get(Ask(), .reload) }
        }
        let bench = CacheBench(fresh, CachePlugin(store: store))
        #expect(try await bench.get() == "2 hit")
        #expect(bench.transport.sent.isEmpty)
    }

    @Test("A failure of the store in a cancelled call is not reported")
    func cancelledCall() async throws {
        let failures = Mutex(0)
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        let store = WatchedStore { method in
            guard method == .entries else { return }
            arrival.yield()
            try await WatchedStore.hang()
        }
        let cache = CachePlugin(store: store, onStoreFailure: { _ in failures.withLock { $0 += 1 } })
        let bench = CacheBench(fresh, cache)
        let call = Task { try await bench.get() }
        for await _ in arrivals { break }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(failures.withLock { $0 } == 0)
    }

    @Test("If the store is unavailable, a call that must not contact the origin gets a 504")
    func unavailable() async throws {
        let store = WatchedStore { if $0 == .entries { throw PipelineError(.transport, "by script") } }
        let bench = CacheBench(fresh, CachePlugin(store: store))
        #expect(try await bench.response(Ask(), .onlyIfCached).statusCode == 504)
        #expect(bench.transport.sent.isEmpty)
        #expect(try await bench.response().cacheStatus?.reason == "store-unavailable")
    }

    @Test("RFC 9111 §5.2.1.7: only-if-cached in a request is the same as the policy")
    func onlyIfCached() async throws {
        let bench = CacheBench(fresh)
        let ask = Ask(headers: ["Cache-Control": "only-if-cached"])
        let response = try await bench.response(ask)
        #expect(response.statusCode == 504)
        #expect(response.source == .cache)
        #expect(bench.transport.sent.isEmpty)
        _ = try await bench.get()
        #expect(try await bench.get(ask) == "1 hit")
    }

    // MARK: Changes

    @Test("What a POST changes is removed from the store at once, also for other providers")
    func removedAtOnce() async throws {
        let store = MemoryCacheStore()
        let (first, second) = (
            CacheBench(fresh, CachePlugin(store: store)), CacheBench(fresh, CachePlugin(store: store))
        )
        #expect(try await first.get() == "1 miss")
        #expect(try await second.get() == "1 hit")
        _ = try await first.get(Ask(method: .post))
        #expect("\(store)".hasPrefix("0 responses"))
        #expect(try await second.get() == "1 miss")
    }

    @Test("A response whose resource changes while the store makes it visible is removed")
    func changeWhileFinishing() async throws {
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        let (gate, open) = AsyncStream<Never>.makeStream()
        let store = WatchedStore { method in
            guard method == .finish else { return }
            arrival.yield()
            for await _ in gate {}
        }
        let bench = CacheBench(fresh, CachePlugin(store: store))
        async let old = bench.get()
        for await _ in arrivals { break }
        _ = try await bench.get(Ask(method: .post))
        open.finish()
        #expect(try await old == "1 miss")
        #expect(try await bench.get() == "3 miss")
    }

    @Test("A response from before a change does not displace one from after it", arguments: [true, false])
    func changeWhileReading(isInterrupted: Bool) async throws {
        let fields = CacheBench.control("max-age=600", [.eTag: "\"v\"", .contentLength: "6"])
        let (old, input) = AsyncThrowingStream<Data, any Error>.makeStream()
        let transport = ScriptedTransport { _, index in
            .status(200, headers: fields, body: index == 0 ? .stream(old, byteCount: 6) : .bytes(Data("newest".utf8)))
        }
        let bench = CacheBench(transport)
        let first = try await bench.provider.stream(Ask())
        _ = try await bench.get(Ask(method: .post))
        #expect(try await bench.get() == "newest miss")
        input.yield(Data((isInterrupted ? "old" : "oldest").utf8))
        input.finish(throwing: isInterrupted ? PipelineError(.connectionLost, "by script") : nil)
        do { for try await _ in first.body {} } catch { #expect(isInterrupted) }
        #expect(try await bench.get() == "newest hit")
    }

    @Test("A response that is outdated when it arrives is not reported as stored")
    func outdated() async throws {
        let fields = fresh
        let transport = ScriptedTransport { _, index in
            let step = ScriptedTransport.Step.status(200, headers: fields, body: "\(index)")
            return index == 0 ? .delayed(.seconds(10), step) : step
        }
        let bench = CacheBench(transport)
        async let old = bench.response()
        try await bench.clock.waitForSleepers()
        _ = try await bench.get(Ask(method: .post))
        bench.clock.advance(by: .seconds(10))
        let status = try await old.cacheStatus
        #expect(status?.isStored == false)
        #expect(status?.timeToLive == nil)
    }

    @Test("A newer response for another language does not keep a slow body from being stored")
    func slowVariant() async throws {
        let fields = CacheBench.control("max-age=600", [.vary: "Accept-Language"])
        let (slow, end) = AsyncStream<Data>.makeStream()
        let transport = ScriptedTransport { _, index in
            .status(200, headers: fields, body: index == 0 ? .stream(slow) : .bytes(Data("french".utf8)))
        }
        let bench = CacheBench(transport)
        let (german, french) = (Ask(headers: ["Accept-Language": "de"]), Ask(headers: ["Accept-Language": "fr"]))
        let first = try await bench.provider.stream(german)
        bench.clock.advance(by: .seconds(5))
        #expect(try await bench.get(french) == "french miss")
        end.yield(Data("german".utf8))
        end.finish()
        for try await _ in first.body {}
        #expect(try await bench.get(german) == "german hit")
    }

    // MARK: Bodies

    @Test("An interrupted body without a length is not stored")
    func interrupted() async throws {
        let fields = fresh
        let transport = ScriptedTransport { _, index in
            guard index == 0 else { return .status(200, headers: fields, body: "whole") }
            let body = AsyncThrowingStream<Data, any Error> { stream in
                stream.yield(Data("beginning".utf8))
                stream.finish(throwing: PipelineError(.connectionLost, "by script"))
            }
            return .status(200, headers: fields, body: .stream(body))
        }
        let bench = CacheBench(transport)
        await #expect(throws: PipelineError.self) { try await bench.response() }
        #expect(try await bench.get() == "whole miss")
    }

    @Test("A stream without bytes is stored although the caller does not read it")
    func emptyStream() async throws {
        let body = PipelineBody.stream(byteCount: 0, replaying: { AsyncStream([]) })
        let bench = CacheBench(ScriptedTransport(always: .status(204, headers: fresh, body: body)))
        _ = try await bench.provider.stream(Ask())
        #expect(try await bench.response().cacheStatus?.kind == .hit)
    }

    @Test("A stored body that is shorter than its entry says is removed and replaced by the response of the origin")
    func shortBody() async throws {
        let store = WatchedStore(isEmpty: true) { _ in }
        let bench = CacheBench(fresh, CachePlugin(store: store))
        #expect(try await bench.get() == "1 miss")
        #expect(try await bench.get() == "2 miss")
    }

    @Test("A call that is cancelled while it reads a stored body leaves the response in the store")
    func cancelledRead() async throws {
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        let hangs = Mutex(true)
        let store = WatchedStore { method in
            guard method == .read, hangs.withLock({ $0 }) else { return }
            arrival.yield()
            try await WatchedStore.hang()
        }
        let bench = CacheBench(fresh, CachePlugin(store: store))
        #expect(try await bench.get() == "1 miss")
        let call = Task { try await bench.get() }
        for await _ in arrivals { break }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        hangs.withLock { $0 = false }
        #expect(try await bench.get() == "1 hit")
    }

    // MARK: Set-Cookie

    @Test("What the store serves never has Set-Cookie, whatever has updated it")
    func setCookie() async throws {
        let transport = ScriptedTransport { request, index in
            let fields = CacheBench.control(
                "max-age=60, stale-while-revalidate=60, stale-if-error=600",
                [.eTag: "\"v\"", .setCookie: "n=\(index)"]
            )
            if index == 4 { return .failure(.connectionLost) }
            return .status(request.headers.contains(.ifNoneMatch) ? 304 : 200, headers: fields, body: "0123456789")
        }
        let bench = CacheBench(transport)
        #expect(try await bench.response().headers[.setCookie] == "n=0")
        let (head, range) = (Ask(method: .head), Ask(headers: ["Range": "bytes=2-4"]))
        func expectNone(_ ask: Ask = Ask(), _ policy: CachePolicy? = nil) async throws {
            let response = try await bench.response(ask, policy)
            #expect(response.source == .cache)
            #expect(response.headers[.setCookie] == nil)
        }
        for ask in [Ask(), head, range] { try await expectNone(ask) }
        bench.clock.advance(by: .seconds(61))
        try await expectNone()
        #expect(await bench.provider.drain(within: .seconds(1)))
        try await expectNone()
        #expect(try await bench.response(Ask(), .revalidate).headers[.setCookie] == "n=2")
        try await expectNone()
        #expect(try await bench.response(head, .reload).headers[.setCookie] == "n=3")
        try await expectNone()
        bench.clock.advance(by: .seconds(200))
        try await expectNone(Ask(), .offline)
        try await expectNone()
        #expect(transport.sent.count == 5)
    }
}
