import Foundation
import HTTPTypes
import PipelineStoreTesting
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("MemoryCacheStore", .watched)
struct MemoryCacheStoreTests {
    @Test("It does what every cache store has to do")
    func conformance() async {
        let violations = await CacheStoreConformance { MemoryCacheStore() }.run()
        #expect(violations.isEmpty, "\(violations)")
    }

    @Test("A body of one chunk is copied once, and shared by its readers", arguments: [5_000, 100_000])
    func sharedBody(_ count: Int) async throws {
        let (store, body) = (MemoryCacheStore(), Data(repeating: 7, count: count))
        let entry = try #require(try await store.put(.named("r"), body))
        let first = try #require(await store.body(of: entry)?.bytes)
        let second = try #require(await store.body(of: entry)?.bytes)
        #expect(first.address != body.address)
        #expect(second.address == first.address)
    }

    @Test("A small body does not keep the larger buffer that it is a part of", arguments: [100, 5_000, 65_535])
    func copiedBody(_ count: Int) async throws {
        let (store, buffer) = (MemoryCacheStore(), Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) }))
        let entry = try #require(try await store.put(.named("r"), buffer[20..<20 + count]))
        let body = try #require(await store.body(of: entry)?.bytes)
        #expect(body == buffer[20..<20 + count])
        #expect(body.address != buffer[20..<20 + count].address)
    }

    @Test("The bytes of a removed body are freed when the store can be used")
    func deallocator() async throws {
        let store = MemoryCacheStore()
        func put(_ resource: String) async throws {
            let bytes = UnsafeMutableRawPointer.allocate(byteCount: 100_000, alignment: 8)
            bytes.initializeMemory(as: UInt8.self, repeating: 1, count: 100_000)
            let body = Data(
                bytesNoCopy: bytes,
                count: 100_000,
                // A deallocator that ran under the lock of the store would block forever.
                deallocator: .custom { bytes, _ in
                    #expect(store.entryCount >= 0)
                    bytes.deallocate()
                }
            )
            try await store.put(.named(resource), body)
        }
        try await put("replaced")
        try await put("replaced")
        for resource in ["resource", "account"] { try await put(resource) }
        await store.remove(resource: "resource")
        await store.remove(account: "a")
        try await put("everything")
        await store.remove(account: nil)
        #expect(store.entryCount == 0)
    }

    @Test("A writer that has ended accepts no more bytes", arguments: [true, false])
    func ended(_ isFinished: Bool) async throws {
        let store = MemoryCacheStore()
        let writer = try #require(await store.write(.named("r"), byteCount: nil))
        if isFinished { _ = try await writer.finish(totalByteCount: 0) } else { await writer.discard() }
        await expect(code: .ended) { try await writer.append(Data([1])) }
        await expect(code: .ended) { _ = try await writer.finish(totalByteCount: 0) }
    }

    @Test("A lock that exceeds the bound replaces the one that expires first")
    func lockBound() async {
        let store = MemoryCacheStore()
        let now = Date(timeIntervalSince1970: 0)
        func lock(_ index: Int) async -> UUID? {
            // The locks expire in the order of their numbers, except for number 7, which is the first to expire.
            let duration = Duration.seconds(index == 7 ? 10 : 100 + index)
            return await store.lock(CacheEntry.named("\(index)").key, for: duration, at: now)
        }
        for index in 0..<1_024 { #expect(await lock(index) != nil) }
        for index in [0, 7, 1_023] { #expect(await lock(index) == nil) }
        #expect(await lock(1_024) != nil)
        for index in [0, 1_023, 1_024] { #expect(await lock(index) == nil) }
        #expect(await lock(7) != nil)
    }

    @Test("Descriptions show counts only")
    func description() async throws {
        let store = MemoryCacheStore(maximumByteCount: 100_000)
        try await store.put(.named("canary", headers: [.eTag: "canary"]), Data("canary".utf8))
        var dumped = ""
        dump(store, to: &dumped)
        #expect("\(store)" == "1 responses in memory, \(store.byteCount) of 100000 bytes")
        #expect(!dumped.contains("canary"))
    }
}

extension Data {
    fileprivate var address: UnsafeRawPointer? { withUnsafeBytes { $0.baseAddress } }
}
