import PipelineCaching
import PipelineStoreTesting
import PipelineTesting
import TestSupport
import Testing

@Suite("MemoryCookieStore", .watched)
struct MemoryCookieStoreTests {
    @Test("It does what every cookie store has to do")
    func conformance() async {
        let violations = await CookieStoreConformance { MemoryCookieStore() }.run()
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test("Cookies of the session live as long as the store")
    func sessionCookies() async throws {
        let store = MemoryCookieStore()
        try await store.insert(.session("s"))
        #expect(try await store.names == ["s"])
    }

    @Test("Descriptions show neither accounts nor values")
    func description() async throws {
        let store = MemoryCookieStore()
        await store.update(account: "ann") { $0.insert([.lasting("x")]) }
        var dumped = ""
        dump(store, to: &dumped)
        #expect("\(store)" == "cookies in memory")
        #expect(!dumped.contains("canary") && !dumped.contains("ann"))
    }
}
