import PipelineStoreTesting
import PipelineTesting
import TestSupport
import Testing

@Suite("CacheStoreConformance", .watched)
struct CacheStoreConformanceTests {
    @Test(
        "A store that breaks one rule is reported by the check of that rule",
        arguments: BrokenCacheStore.Fault.allCases
    )
    func faults(_ fault: BrokenCacheStore.Fault) async {
        let violations = await CacheStoreConformance { BrokenCacheStore(fault) }.run()
        #expect(violations.map(\.check).contains(fault.rawValue), "\(violations)")
    }

    @Test("A store with its own clock is not checked for the expiry of locks by the dates of callers")
    func storeClock() async {
        let violations = await CacheStoreConformance(lockClock: .store) { BrokenCacheStore(.lockExpiry) }.run()
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test("An error of the store or of the closure that makes it is a violation of each check")
    func errors() async {
        struct Failure: Error {}
        let violations = await CacheStoreConformance { throw Failure() }.run()
        #expect(violations.count == BrokenCacheStore.Fault.allCases.count)
        #expect(violations.first?.description == "empty: it failed: Failure()")
    }
}
