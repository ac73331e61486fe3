import Foundation
import Logging
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineResilience

@Suite("Log lines of a rate limit whose store is unavailable", .watched)
struct SharedQuotaTests {
    /// A store that fails when a test wants it to.
    private final class Store: RateLimitStore {
        let failure = Mutex<Failure?>(nil)

        func reserve(
            _ cost: Int,
            of key: String,
            interval: Duration,
            burst: Int,
            within maximumWait: Duration?
        ) async throws -> Duration {
            if let failure = failure.withLock({ $0 }) { throw failure }
            return .zero
        }
    }

    private struct Failure: Error, SafelyDescribed {
        let description: String
    }

    private let log = WarningLog()
    private let clock = ManualClock()
    private let store = Store()

    @Test("V07: each outage of the store is one line, however many calls it has and however its error changes")
    func lines() async throws {
        let quota = SharedQuota(store, RateLimit(100, per: .seconds(1)))
        func reserve() async throws -> Duration? {
            try await quota.reserve(1, of: .shared, on: PipelineClock(clock), log.log) { nil }
        }
        #expect(try await reserve() == .zero)
        for outage in 1...2 {
            for text in ["wrong password", "full"] {
                store.failure.withLock { $0 = Failure(description: text) }
                // The first call asks the store, the second does not, because the store is not asked for a second.
                for _ in 1...2 { #expect(try await reserve() == nil) }
                clock.advance(by: .seconds(1))
            }
            #expect(log.all.count == outage)
            store.failure.withLock { $0 = nil }
            #expect(try await reserve() == .zero)
        }
        for line in log.all {
            #expect(line.hasPrefix("the store of a RateLimitPlugin is unavailable"))
            #expect(line.hasSuffix(": wrong password"))
        }
    }
}
