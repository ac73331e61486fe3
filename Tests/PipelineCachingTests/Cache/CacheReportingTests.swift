import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("CachePlugin logs failures of its store", .watched)
struct CacheReportingTests {
    private struct Broken: Error {
        let password = "secret"
    }

    /// Returns whether the plugin logs a failure now.
    private func logs(_ cache: CachePlugin, _ bench: CacheBench) -> Bool {
        let warnings = WarningLog()
        cache.report(Broken(), at: PipelineClock(bench.clock).now, to: warnings.log)
        return !warnings.all.isEmpty
    }

    @Test(
        "C12: the first failure of a store is logged without onStoreFailure, and then at most one an hour",
        arguments: [WatchedStore.Method.secret, .entries, .write, .finish, nil]
    )
    func pause(_ failing: WatchedStore.Method?) async throws {
        let cache = CachePlugin(store: WatchedStore { if $0 == failing { throw Broken() } })
        let bench = CacheBench(CacheBench.control("max-age=60"), cache)
        #expect(try await bench.response().source == .network)
        #expect(logs(cache, bench) == (failing == nil))
        bench.clock.advance(by: .seconds(3_599))
        #expect(!logs(cache, bench))
        bench.clock.advance(by: .seconds(1))
        #expect(logs(cache, bench))
        #expect(!logs(cache, bench))
    }

    @Test(
        "A body that is too large is not logged, and neither is any failure of a store in memory",
        arguments: [true, false]
    )
    func tooLarge(isInMemory: Bool) async throws {
        let memory = MemoryCacheStore(maximumBodyByteCount: 2)
        let failures = StoreLog()
        let cache = CachePlugin(
            store: isInMemory ? memory : WatchedStore(memory) { _ in },
            onStoreFailure: { _ in failures.add(.append) }
        )
        let body = AsyncStream<Data> { stream in
            stream.yield(Data("123".utf8))
            stream.finish()
        }
        let transport = ScriptedTransport { _, _ in
            .status(200, headers: CacheBench.control("max-age=60"), body: .stream(body))
        }
        let bench = CacheBench(transport, cache)
        #expect(try await bench.get() == "123 miss")
        #expect(failures.count(of: .append) == 1)
        #expect(logs(cache, bench) == !isInMemory)
    }

    @Test("The log shows the text of an error without secrets, and only the type of any other one")
    func text() async throws {
        let warnings = StoreWarnings("the store fails")
        #expect(warnings.text(of: Broken()) == "the store fails: Broken")
        let writer = try #require(await MemoryCacheStore(maximumBodyByteCount: 0).write(Self.entry, byteCount: nil))
        let error = await #expect(throws: CacheStoreError.self) { try await writer.append(Data([1])) }
        #expect(warnings.text(of: try #require(error)) == "the store fails: \(try #require(error).description)")
    }

    private static let entry = CacheEntry(
        id: UUID(),
        key: CacheKey(resource: "", account: ""),
        variant: "",
        statusCode: 200,
        headers: [:],
        requestDate: .now,
        responseDate: .now
    )
}
