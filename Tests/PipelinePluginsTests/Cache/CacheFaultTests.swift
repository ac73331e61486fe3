import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineStores
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("CachePlugin with a failing store", .timeLimit(.minutes(1)))
struct CacheFaultTests {
    fileprivate struct Broken: Error {}

    /// A store of which one method does something else first, such as to fail or to hang.
    fileprivate struct BrokenStore: CacheStore {
        enum Fault: CaseIterable { case secret, entries, body, write, append, finish, discard }

        let fault: Fault
        let act: @Sendable () async throws -> Void
        let store: any CacheStore = MemoryCacheStore()

        private func fail(_ method: Fault) async throws {
            if method == fault { try await act() }
        }

        /// Waits until the task is cancelled.
        static func hang() async throws {
            let never = AsyncStream<Never> { _ in }
            for await _ in never {}
            throw CancellationError()
        }

        func secret() async throws -> Data {
            try await fail(.secret)
            return try await store.secret()
        }

        func entries(for key: CacheKey) async throws -> [CacheEntry] {
            try await fail(.entries)
            return try await store.entries(for: key)
        }

        func body(of entry: CacheEntry) async throws -> (any CacheBodyReader)? {
            try await fail(.body)
            return try await store.body(of: entry)
        }

        func write(_ entry: CacheEntry, byteCount: Int?) async throws -> (any CacheBodyWriter)? {
            try await fail(.write)
            return try await store.write(entry, byteCount: byteCount).map { Writer(store: self, writer: $0) }
        }

        func update(_ entry: CacheEntry) async throws { try await store.update(entry) }
        func remove(_ entry: CacheEntry) async throws { try await store.remove(entry) }
        func remove(resource: String) async throws { try await store.remove(resource: resource) }
        func remove(account: String?) async throws { try await store.remove(account: account) }

        func lock(_ key: CacheKey, for duration: Duration, at now: Date) async throws -> UUID? {
            try await store.lock(key, for: duration, at: now)
        }

        func unlock(_ key: CacheKey, _ token: UUID) async throws { try await store.unlock(key, token) }

        struct Writer: CacheBodyWriter {
            let store: BrokenStore
            let writer: any CacheBodyWriter

            func append(_ bytes: Data) async throws {
                try await store.fail(.append)
                try await writer.append(bytes)
            }

            func finish(totalByteCount: Int?) async throws -> CacheEntry {
                try await store.fail(.finish)
                return try await writer.finish(totalByteCount: totalByteCount)
            }

            func discard() async {
                try? await store.fail(.discard)
                await writer.discard()
            }
        }
    }

    @Test(
        "A call succeeds if its store fails or hangs, and the error is reported",
        arguments: BrokenStore.Fault.allCases.filter { $0 != .discard },
        [false, true]
    )
    fileprivate func fault(_ fault: BrokenStore.Fault, hangs: Bool) async throws {
        let failures = Mutex(0)
        let store = BrokenStore(fault: fault) {
            guard hangs else { throw Broken() }
            try await BrokenStore.hang()
        }
        let cache = CachePlugin(store: store, onStoreFailure: { _ in failures.withLock { $0 += 1 } })
        let bench = CacheBench(CacheBench.control("max-age=60"), cache)
        for number in 1...2 {
            async let call = bench.get()
            let pump = Task {
                while !Task.isCancelled {
                    await bench.clock.waitForSleepers()
                    bench.clock.advance(by: .seconds(1))
                }
            }
            let text: String = try await call
            #expect(text.hasPrefix("\(number) "))
            pump.cancel()
        }
        #expect(failures.withLock { $0 } > 0)
    }

    /// A store whose bodies cannot be read.
    fileprivate struct UnreadableStore: CacheStore {
        struct Reader: CacheBodyReader {
            let bytes: Data? = nil
            func read(at offset: Int, upTo count: Int) async throws -> Data { throw Broken() }
        }

        let store: any CacheStore = MemoryCacheStore()
        func secret() async throws -> Data { try await store.secret() }
        func entries(for key: CacheKey) async throws -> [CacheEntry] { try await store.entries(for: key) }
        func body(of entry: CacheEntry) async throws -> (any CacheBodyReader)? { Reader() }
        func write(_ entry: CacheEntry, byteCount: Int?) async throws -> (any CacheBodyWriter)? {
            try await store.write(entry, byteCount: byteCount)
        }
        func update(_ entry: CacheEntry) async throws { try await store.update(entry) }
        func remove(_ entry: CacheEntry) async throws { try await store.remove(entry) }
        func remove(resource: String) async throws { try await store.remove(resource: resource) }
        func remove(account: String?) async throws { try await store.remove(account: account) }
        func lock(_ key: CacheKey, for duration: Duration, at now: Date) async throws -> UUID? { nil }
        func unlock(_ key: CacheKey, _ token: UUID) async throws {}
    }

    @Test("A stored body that becomes unreadable fails the call, and the next call gets the response of the origin")
    func unreadable() async throws {
        let bench = CacheBench(CacheBench.control("max-age=60"), CachePlugin(store: UnreadableStore()))
        #expect(try await bench.get() == "1 miss")
        let error = await #expect(throws: PipelineError.self) { try await bench.get() }
        #expect(error?.code == .unreadableCache)
        #expect(try await bench.get() == "2 miss")
    }

    @Test("With a plugin that retries, an unreadable body costs only another exchange")
    func unreadableRetried() async throws {
        let retry = RetryPlugin(maximumAttempts: 2, backoff: .immediate)
        let cache = CachePlugin(store: UnreadableStore())
        let bench = CacheBench(CacheBench.control("max-age=60"), cache, outside: [retry])
        #expect(try await bench.get() == "1 miss")
        #expect(try await bench.get() == "2 miss")
    }

    @Test("RFC 9111 §3.4: a call that is cancelled while the store writes keeps what it has received")
    func cancelledWhileWriting() async throws {
        let (writing, begin) = AsyncStream<Void>.makeStream()
        let (gate, open) = AsyncStream<Void>.makeStream()
        let store = BrokenStore(fault: .append) {
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
        let store = BrokenStore(fault: .body) { if isBroken.withLock({ $0 }) { throw Broken() } }
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
        let store = BrokenStore(fault: .discard) { try await BrokenStore.hang() }
        let transport = ScriptedTransport { _, _ in
            let body = AsyncThrowingStream<Data, any Error> { stream in
                stream.yield(Data("123".utf8))
                stream.finish(throwing: PipelineError(.connectionLost, "by script"))
            }
            return .status(200, headers: CacheBench.control("max-age=60"), body: .stream(body))
        }
        let bench = CacheBench(transport, CachePlugin(store: store))
        let call = Task { try await bench.response() }
        await bench.clock.waitForSleepers()
        bench.clock.advance(by: .seconds(1))
        let error = await #expect(throws: PipelineError.self) { try await call.value }
        #expect(error?.code == .connectionLost)
    }
}
