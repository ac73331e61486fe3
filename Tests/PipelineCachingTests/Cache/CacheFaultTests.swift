import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("CachePlugin with a failing store", .tags(.concurrent), .watched)
struct CacheFaultTests {
    private struct Broken: Error {}

    /// The methods that calls use.
    static let methods = WatchedStore.Method.allCases.filter { $0 != .removeAccount }

    @Test(
        "Calls succeed if a method of their store fails or hangs, and the error is reported",
        arguments: methods,
        [false, true]
    )
    func fault(_ fault: WatchedStore.Method, hangs: Bool) async throws {
        let log = StoreLog()
        let failures = Mutex(0)
        let hanging = Mutex(0)
        let store = WatchedStore { method in
            guard method == fault else { return }
            log.add(method)
            guard hangs else { throw Broken() }
            hanging.withLock { $0 += 1 }
            defer { hanging.withLock { $0 -= 1 } }
            try await WatchedStore.hang()
        }
        let cache = CachePlugin(store: store, onStoreFailure: { _ in failures.withLock { $0 += 1 } })
        let bench = CacheBench(Self.origin, cache)
        let pump = Task {
            var pauses = Pauses()
            while !Task.isCancelled {
                if hanging.withLock({ $0 > 0 }) { bench.clock.advance(by: .seconds(1)) }
                await pauses.next()
            }
        }
        try await useEachMethod(bench)
        pump.cancel()
        #expect(log.count(of: fault) > 0)
        // A writer whose bytes cannot be discarded has nothing to report.
        #expect(failures.withLock { $0 } > 0 || (fault == .discard && !hangs))
    }

    /// Confirms its ETag, changes with each POST, and interrupts the body of `/cut`.
    private static var origin: ScriptedTransport {
        let version = Mutex(1)
        return ScriptedTransport { request, _ in
            if request.method == .post { version.withLock { $0 += 1 } }
            let version = version.withLock { $0 }
            let fields = CacheBench.control("max-age=60, stale-while-revalidate=60", [.eTag: "\"\(version)\""])
            if request.path == "/cut" {
                let body = AsyncThrowingStream<Data, any Error> { stream in
                    stream.yield(Data("1".utf8))
                    stream.finish(throwing: PipelineError(.connectionLost, "by script"))
                }
                return .status(200, headers: CacheBench.control("max-age=60"), body: .stream(body))
            }
            if request.path == "/stream" {
                let body = AsyncStream<Data> { stream in
                    stream.yield(Data("1".utf8))
                    stream.finish()
                }
                return .status(200, headers: CacheBench.control("max-age=60"), body: .stream(body))
            }
            if request.header("X-Gone") != nil {
                return .status(404, headers: CacheBench.control("no-store"), body: "\(version)")
            }
            if request.headers[.ifNoneMatch] == "\"\(version)\"" { return .status(304, headers: fields) }
            return .status(200, headers: fields, body: "\(version)")
        }
    }

    private func useEachMethod(_ bench: CacheBench) async throws {
        func body(_ ask: Ask = Ask(), _ policy: CachePolicy? = nil) async throws -> String {
            String(decoding: try await bench.response(ask, policy).data, as: UTF8.self)
        }
        for _ in 1...2 { #expect(try await body() == "1") }
        for seconds in [90, 130] {
            bench.clock.advance(by: .seconds(seconds))
            #expect(try await body() == "1")
            #expect(await bench.provider.drain(within: .seconds(1_000)))
        }
        // The response replaces the stored one without being stored.
        #expect(try await body(Ask(headers: ["X-Gone": "yes"]), .reload) == "1")
        #expect(try await body(Ask(method: .post)) == "2")
        #expect(try await body() == "2")
        #expect(try await body(Ask(path: "/stream")) == "1")
        let error = await #expect(throws: PipelineError.self) { try await bench.response(Ask(path: "/cut")) }
        #expect(error?.code == .connectionLost)
    }

    @Test("A stored body that cannot be read is replaced by the response of the origin", arguments: [false, true])
    func unreadable(isLong: Bool) async throws {
        let reads = Atomic(0)
        // The first piece can be read.
        let store = WatchedStore { method in
            guard method == .read else { return }
            if reads.add(1, ordering: .relaxed).newValue > (isLong ? 1 : 0) { throw Broken() }
        }
        let fields = CacheBench.control("max-age=60")
        let transport = ScriptedTransport { _, index in
            .status(200, headers: fields, body: .bytes(Data(repeating: UInt8(index), count: isLong ? 100_000 : 10)))
        }
        let bench = CacheBench(transport, CachePlugin(store: store))
        #expect(try await bench.response().data.first == 0)
        let response = try await bench.response()
        #expect(Set(response.data) == [1])
        #expect(response.data.count == (isLong ? 100_000 : 10))
        #expect(response.cacheStatus?.kind == .miss)
    }

    @Test("A stored body that becomes unreadable within a stream fails it, and the next call contacts the origin")
    func unreadableStream() async throws {
        let reads = Atomic(0)
        let store = WatchedStore { method in
            guard method == .read else { return }
            if reads.add(1, ordering: .relaxed).newValue > 1 { throw Broken() }
        }
        let fields = CacheBench.control("max-age=60")
        let transport = ScriptedTransport { _, _ in .status(200, headers: fields, body: .bytes(Data(count: 100_000))) }
        let bench = CacheBench(transport, CachePlugin(store: store))
        _ = try await bench.response()
        let response = try await bench.provider.stream(Ask())
        let count = Mutex(0)
        let error = await #expect(throws: PipelineError.self) {
            for try await piece in response.body { count.withLock { $0 += piece.count } }
        }
        #expect(error?.code == .unreadableCache)
        #expect(count.withLock { $0 } == 65_536)
        #expect(try await bench.response().cacheStatus?.kind == .miss)
    }

    @Test("If the unreadable body cannot be removed either, the call continues nevertheless")
    func hangingRemoval() async throws {
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        let store = WatchedStore { method in
            if method == .read { throw Broken() }
            guard method == .remove else { return }
            arrival.yield()
            try await WatchedStore.hang()
        }
        let bench = CacheBench(CacheBench.control("max-age=60"), CachePlugin(store: store))
        #expect(try await bench.get() == "1 miss")
        let call = Task { try await bench.get() }
        for await _ in arrivals { break }
        try await bench.clock.waitForSleepers()
        bench.clock.advance(by: .seconds(1))
        #expect(try await call.value == "2 miss")
    }

    @Test("Many calls read their stored bodies at the same time")
    func manyReads() async throws {
        let count = 100
        let (gate, open) = AsyncStream<Never>.makeStream()
        let reading = Mutex(0)
        let store = WatchedStore { method in
            guard method == .read else { return }
            reading.withLock { $0 += 1 }
            for await _ in gate {}
        }
        let bench = CacheBench(CacheBench.control("max-age=60"), CachePlugin(store: store))
        #expect(try await bench.get() == "1 miss")
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<count { group.addTask { try await bench.get() } }
            await eventually { reading.withLock { $0 == count } }
            open.finish()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(texts == Array(repeating: "1 hit", count: count))
    }

    @Test("A stored body whose reading hangs is replaced by the response of the origin after a second")
    func hangingRead() async throws {
        let store = WatchedStore { if $0 == .read { try await WatchedStore.hang() } }
        let bench = CacheBench(CacheBench.control("max-age=60"), CachePlugin(store: store))
        #expect(try await bench.get() == "1 miss")
        let call = Task { try await bench.get() }
        try await bench.clock.waitForSleepers()
        bench.clock.advance(by: .seconds(1))
        #expect(try await call.value == "2 miss")
    }

    @Test("RFC 9111 §3.4: a call that is cancelled while the store writes keeps what it has received")
    func cancelledWhileWriting() async throws {
        let (writing, begin) = AsyncStream<Void>.makeStream()
        let (gate, open) = AsyncStream<Void>.makeStream()
        let store = WatchedStore { method in
            guard method == .append else { return }
            begin.finish()
            for await _ in gate {}
            try Task.checkCancellation()
        }
        let fields = CacheBench.control("max-age=60", [.eTag: "\"v\"", .contentLength: "6"])
        let transport = ScriptedTransport { _, _ in
            let body = AsyncStream<Data> { $0.yield(Data("123".utf8)) }
            return .status(200, headers: fields, body: .stream(body, byteCount: 6))
        }
        let bench = CacheBench(transport, CachePlugin(store: store))
        let call = Task { try await bench.response() }
        for await _ in writing {}
        call.cancel()
        open.finish()
        await #expect(throws: CancellationError.self) { try await call.value }
        let next = Task { try await bench.response() }
        await eventually { transport.sent.count == 2 }
        next.cancel()
        #expect(transport.sent.last?.headers[.range] == "bytes=3-")
        _ = try? await next.value
    }

    @Test("A body that the store cannot open is replaced by the response of the origin")
    func unopened() async throws {
        let isBroken = Mutex(true)
        let store = WatchedStore { if $0 == .body, isBroken.withLock({ $0 }) { throw Broken() } }
        let failures = Mutex(0)
        let cache = CachePlugin(store: store, onStoreFailure: { _ in failures.withLock { $0 += 1 } })
        let bench = CacheBench(CacheBench.control("max-age=60"), cache)
        for number in 1...2 { #expect(try await bench.get() == "\(number) miss") }
        #expect(failures.withLock { $0 } == 1)
        isBroken.withLock { $0 = false }
        #expect(try await bench.get() == "2 hit")
    }

    @Test("An interrupted call ends although the store hangs while it discards the body")
    func hangingDiscard() async throws {
        let store = WatchedStore { if $0 == .discard { try await WatchedStore.hang() } }
        let transport = ScriptedTransport { _, _ in
            let body = AsyncThrowingStream<Data, any Error> { stream in
                stream.yield(Data("123".utf8))
                stream.finish(throwing: PipelineError(.connectionLost, "by script"))
            }
            return .status(200, headers: CacheBench.control("max-age=60"), body: .stream(body))
        }
        let bench = CacheBench(transport, CachePlugin(store: store))
        let call = Task { try await bench.response() }
        try await bench.clock.waitForSleepers()
        bench.clock.advance(by: .seconds(1))
        let error = await #expect(throws: PipelineError.self) { try await call.value }
        #expect(error?.code == .connectionLost)
    }
}
