import TestSupport
import Testing

@testable import PipelineCaching

@Suite("MemoryCacheTable", .watched)
struct MemoryCacheTableTests {
    @Test("It shrinks when most of its values were removed, and keeps the others")
    func shrinking() {
        var table = MemoryCacheTable<Int, Int>()
        for key in 0..<10_000 { table[key] = key }
        let full = table.byteCount
        for key in 10..<10_000 { table[key] = nil }
        #expect(table.byteCount < full / 50)
        #expect((0..<20).map { table[$0] } == (0..<10).map { $0 } + Array(repeating: nil, count: 10))
    }

    @Test("It announces how much it grows by if a value is inserted")
    func growth() {
        var table = MemoryCacheTable<Int, Int>()
        for key in 0..<10_000 {
            let expected = table.byteCount + table.growthByteCount
            table[key] = key
            #expect(table.byteCount <= expected)
        }
    }
}
