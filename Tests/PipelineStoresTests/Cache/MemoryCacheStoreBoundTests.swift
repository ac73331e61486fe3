import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("MemoryCacheStore, bound", .watched)
struct MemoryCacheStoreBoundTests {
    @Test(
        "Bodies, header fields and bookkeeping stay within the bound",
        arguments: [(body: 5_000, fields: 0), (body: 0, fields: 20), (body: 0, fields: 0)]
    )
    func bound(_ size: (body: Int, fields: Int)) async throws {
        let store = MemoryCacheStore(maximumByteCount: 400_000)
        var headers = HTTPFields()
        for _ in 0..<size.fields { headers.append(HTTPField(name: .vary, value: String(repeating: "x", count: 200))) }
        for index in 0..<1_000 {
            try await store.put(.named("\(index)", headers: headers), size.body)
            #expect(store.byteCount <= 400_000)
        }
        #expect(store.byteCount > 300_000)
        let least = size.body + size.fields * 200 + 300
        #expect((10...400_000 / least).contains(store.entryCount))
    }

    @Test("1,000 writers stay within half of the bound, and the store accepts bodies after they have ended")
    func writers() async throws {
        let store = MemoryCacheStore(maximumByteCount: 1_000_000)
        try await store.put(.named("before"), 100_000)
        var writers: [any CacheBodyWriter] = []
        for index in 0..<1_000 {
            if let writer = await store.write(.named("\(index)"), byteCount: nil) { writers.append(writer) }
        }
        var refused = 0
        for writer in writers {
            do {
                for _ in 0..<4 { try await writer.append(Data(count: 2_000)) }
            } catch let error as CacheStoreError {
                #expect(error.code == .full)
                refused += 1
            }
            #expect(store.byteCount <= 640_000)
        }
        #expect(refused > 0 && refused < writers.count)
        #expect(await store.stored(among: ["before"]) == ["before"])
        writers = []
        #expect(store.byteCount < 110_000)
        #expect(try await store.put(.named("after"), 100_000) != nil)
    }

    @Test("Bodies that are being written displace entries")
    func displacement() async throws {
        let store = MemoryCacheStore(maximumByteCount: 1_000_000, maximumBodyByteCount: 500_000)
        for name in ["a", "b", "c", "d"] { try await store.put(.named(name), 200_000) }
        let writer = try #require(await store.write(.named("e"), byteCount: nil))
        try await writer.append(Data(count: 300_000))
        #expect(store.byteCount <= 1_000_000)
        #expect(await store.stored(among: ["a", "b", "c", "d"]) == ["b", "c", "d"])
        await writer.discard()
    }

    @Test("A body that is larger than the largest one is refused, at the beginning or while it arrives")
    func largestBody() async throws {
        let store = MemoryCacheStore(maximumByteCount: 1_000_000, maximumBodyByteCount: 10_000)
        #expect(await store.write(.named("r"), byteCount: 10_001) == nil)
        let writer = try #require(await store.write(.named("r"), byteCount: nil))
        try await writer.append(Data(count: 9_000))
        await expect(code: .tooLarge) { try await writer.append(Data(count: 1_001)) }
        await expect(code: .ended) { try await writer.append(Data(count: 1)) }
        #expect(store.byteCount == 0)
        #expect(try await store.put(.named("r"), 10_000)?.byteCount == 10_000)
    }

    @Test(
        "A body has at most an eighth of the bound by default, and never more than a third of it",
        arguments: [(nil, 10_000), (0, 0), (20_000, 20_000), (70_000, 26_666)]
    )
    func largestBodyDefault(_ maximum: Int?, _ expected: Int) {
        let store = MemoryCacheStore(maximumByteCount: 80_000, maximumBodyByteCount: maximum)
        #expect(store.maximumBodyByteCount == expected)
    }

    @Test("A store that is smaller than any entry stores nothing")
    func tinyStore() async throws {
        let store = MemoryCacheStore(maximumByteCount: 1_000)
        #expect(await store.write(.named("r"), byteCount: 0) == nil)
        #expect(store.byteCount == 0)
    }

    @Test("A body of many small chunks needs little more memory than its bytes")
    func smallChunks() async throws {
        let store = MemoryCacheStore(maximumByteCount: 1_000_000)
        let writer = try #require(await store.write(.named("r"), byteCount: nil))
        for index in 0..<50_000 { try await writer.append(Data([UInt8(truncatingIfNeeded: index)])) }
        #expect(store.byteCount < 70_000)
        let entry = try await writer.finish(totalByteCount: nil)
        let expected = Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0) })
        #expect(await store.body(of: entry)?.bytes == expected)
        #expect(store.byteCount < 52_000)
    }

    @Test("What remains after removals is small", arguments: ["entry", "resource", "account", "everything"])
    func removals(_ what: String) async throws {
        let store = MemoryCacheStore()
        for index in 0..<2_000 {
            let account = what == "account" ? "a" : "\(index)"
            let entry = try await store.put(.named("\(index)", account: account), 100)
            if what == "entry", let entry { await store.remove(entry) }
        }
        switch what {
        case "resource": for index in 0..<2_000 { await store.remove(resource: "\(index)") }
        case "account": await store.remove(account: "a")
        case "everything": await store.remove(account: nil)
        default: break
        }
        #expect(store.entryCount == 0)
        #expect(store.byteCount < 20_000)
    }

    @Test("Random changes keep the counts right", arguments: 1...5)
    func randomChanges(_ seed: Int) async throws {
        var random = SeededGenerator(seed: UInt64(seed))
        let store = MemoryCacheStore(maximumByteCount: 60_000)
        func named() -> CacheEntry {
            let names = (0..<3).map { _ in "\(Int.random(in: 0..<4, using: &random))" }
            return .named(names[0], account: names[1], variant: names[2])
        }
        for _ in 0..<2_000 {
            let entry = named()
            let former = await store.lookUp(entry.key).entries.randomElement(using: &random)
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<10: try await store.put(entry, Int.random(in: 0..<7_000, using: &random))
            case 10..<15: if let former { _ = await store.body(of: former) }
            case 15:
                guard var former else { continue }
                former.variant = entry.variant
                former.headers[.vary] = String(repeating: "x", count: Int.random(in: 0..<900, using: &random))
                await store.update(former)
            case 16, 17: if let former { await store.remove(former) }
            case 18: await store.remove(resource: entry.key.resource)
            default: await store.remove(account: Bool.random(using: &random) ? nil : entry.key.account)
            }
            var found: [CacheEntry] = []
            for resource in 0..<4 {
                for account in 0..<4 {
                    found += await store.lookUp(CacheEntry.named("\(resource)", account: "\(account)").key).entries
                }
            }
            #expect(store.entryCount == found.count)
            #expect(store.byteCount <= 60_000)
            #expect(store.byteCount >= found.reduce(0) { $0 + $1.byteCount + 300 })
        }
        await store.remove(account: nil)
        #expect(store.entryCount == 0)
        #expect(store.byteCount < 20_000)
    }
}

/// A generator of numbers that look random, the same ones for the same seed.
private struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }
}
