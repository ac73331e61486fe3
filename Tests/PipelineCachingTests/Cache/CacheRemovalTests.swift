import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("CachePlugin removes what has changed", .tags(.concurrent), .watched)
struct CacheRemovalTests {
    private let fresh = CacheBench.control("max-age=600")

    @Test(
        "K04: a removal that meets a busy store is retried until it is done, also if the secret is not known yet",
        arguments: [false, true]
    )
    func retriedRemoval(isFirst: Bool) async throws {
        let memory = MemoryCacheStore()
        let isBusy = Mutex(true)
        let log = StoreLog()
        let busy = isFirst ? WatchedStore.Method.secret : .removeResource
        let store = WatchedStore(memory) { method in
            guard method == busy, isBusy.withLock({ $0 }) else { return }
            log.add(method)
            throw PipelineError(.transport, "by script")
        }
        #expect(try await other(memory).get() == "1 miss")
        let bench = CacheBench(fresh, CachePlugin(store: store))
        _ = try await bench.get(Ask(method: .post))
        await eventually {
            bench.clock.advance(by: .milliseconds(100))
            return log.count(of: busy) == 4
        }
        // As another process would ask, which does not know of the change.
        #expect(try await other(memory).get(Ask(), .offline) == "1 hit")
        isBusy.withLock { $0 = false }
        await eventually {
            bench.clock.advance(by: .milliseconds(100))
            return (try? await other(memory).response(Ask(), .offline).statusCode) == 504
        }
        await eventually { bench.clock.sleeperCount == 0 }
    }

    private func other(_ store: MemoryCacheStore) -> CacheBench { CacheBench(fresh, CachePlugin(store: store)) }

    @Test("K04: the removal after a change goes on if the call is cancelled, and while 64 lookups are late")
    func apart() async throws {
        let log = StoreLog()
        let (gate, open) = AsyncStream<Never>.makeStream()
        let memory = MemoryCacheStore()
        let hangs = Mutex(false)
        let store = WatchedStore(memory) { method in
            switch method {
            case .entries where hangs.withLock({ $0 }): await Task { for await _ in gate {} }.value
            case .removeResource:
                log.add(.removeResource)
                await Task { for await _ in gate {} }.value
                try Task.checkCancellation()
            default: break
            }
        }
        let bench = CacheBench(fresh, CachePlugin(store: store))
        #expect(try await bench.get() == "1 miss")
        hangs.withLock { $0 = true }
        let lookups = (0..<64).map { number in Task { try await bench.get(Ask(path: "/\(number)")) } }
        try await bench.clock.waitForSleepers(64)
        bench.clock.advance(by: .seconds(1))
        for lookup in lookups { _ = try await lookup.value }
        let change = Task { try await bench.response(Ask(method: .post)) }
        await eventually { log.count(of: .removeResource) == 1 }
        change.cancel()
        open.finish()
        _ = try? await change.value
        #expect(try await other(memory).response(Ask(), .offline).statusCode == 504)
    }
}
