import PipelineResilience
import PipelineStoreTesting
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("RateLimitStoreConformance", .realTime, .watched)
struct RateLimitStoreConformanceTests {
    /// A store in memory, with a fault if a test asks for one.
    private final class TestStore: RateLimitStore {
        enum Fault: CaseIterable {
            case noSpacing, noCosts, noBurst, reservesRefusals, oneKey, fails, slowReading
        }

        private let due = Mutex<[String: ContinuousClock.Instant]>([:])
        /// The number of callers that have read.
        private let readCount = Atomic(0)
        private let fault: Fault?

        init(_ fault: Fault? = nil) { self.fault = fault }

        func reserve(
            _ cost: Int,
            of key: String,
            interval: Duration,
            burst: Int,
            within maximumWait: Duration?
        ) async throws -> Duration {
            if fault == .fails { throw CancellationError() }
            let cost = fault == .noCosts ? 1 : cost
            let burst = fault == .noBurst ? 1 : burst
            let key = fault == .oneKey ? "" : key
            let known = due.withLock { $0[key] }
            if fault == .slowReading { await waitForAnotherReader() }
            return due.withLock { all in
                let now = ContinuousClock.now
                let due = fault == .slowReading ? known : all[key]
                let start = max(now, due.map { $0 + interval * (cost - burst) } ?? now)
                let wait = now.duration(to: start)
                if let maximumWait, wait > maximumWait, fault != .reservesRefusals { return wait }
                if fault != .noSpacing { all[key] = max(start, due ?? now) + interval * cost }
                return wait
            }
        }

        /// Waits until another caller has read the same value, if there is one.
        private func waitForAnotherReader() async {
            let own = readCount.add(1, ordering: .relaxed).newValue
            for _ in 0..<100 where readCount.load(ordering: .relaxed) == own { await Task.yield() }
        }
    }

    @Test("A store in memory conforms")
    func conforms() async {
        #expect(await RateLimitStoreConformance { TestStore() }.run() == [])
    }

    @Test("Each fault is found", arguments: TestStore.Fault.allCases)
    private func faults(fault: TestStore.Fault) async {
        #expect(await RateLimitStoreConformance { TestStore(fault) }.run() != [])
    }
}
