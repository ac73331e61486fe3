import Foundation
import HTTPTypes
import PipelineCaching

/// Entries whose bodies follow from their identifier and their key, so that a wrong body is noticed.
enum CacheSample {
    static let keys = (0..<24).map { CacheKey(resource: "resource\($0)", account: "account\($0 % 3)") }
    static let byteCounts = [0, 100, 5_000, 32_768, 32_769, 200_000]

    static func entry(_ key: CacheKey, variant: String = "") -> CacheEntry {
        CacheEntry(
            id: UUID(),
            key: key,
            variant: variant,
            statusCode: 200,
            headers: [.contentType: "text/plain"],
            requestDate: Date(timeIntervalSince1970: 1_700_000_000),
            responseDate: Date(timeIntervalSince1970: 1_700_000_001)
        )
    }

    /// Returns the bytes that the body of an entry must have.
    static func body(of entry: CacheEntry, _ byteCount: Int) -> Data {
        var state = "\(entry.id) \(entry.key.resource) \(entry.key.account)".utf8
            .reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0100_0000_01B3 }
        var words: [UInt64] = []
        words.reserveCapacity(byteCount / 8 + 1)
        for _ in 0...byteCount / 8 {
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            words.append(state)
        }
        return words.withUnsafeBytes { Data($0.prefix(byteCount)) }
    }

    /// Stores an entry, its body in pieces; returns `nil` if there is no room for it.
    @discardableResult
    static func write(
        _ entry: CacheEntry,
        _ byteCount: Int,
        to store: some CacheStore,
        piece: Int = 9_000
    ) async throws -> CacheEntry? {
        guard let writer = try await store.write(entry, byteCount: byteCount) else { return nil }
        let body = body(of: entry, byteCount)
        for start in stride(from: 0, to: byteCount, by: piece) {
            try await writer.append(body[start..<min(start + piece, byteCount)])
        }
        return try await writer.finish(totalByteCount: byteCount)
    }

    /// Returns whether the store has the body of an entry and it is the right one; `nil` if it has none.
    static func hasBody(_ entry: CacheEntry, in store: some CacheStore) async throws -> Bool? {
        guard let reader = try await store.body(of: entry) else { return nil }
        var found = Data()
        while true {
            let piece = try await reader.read(at: found.count, upTo: 50_000)
            guard !piece.isEmpty else { break }
            found += piece
        }
        return found == body(of: entry, entry.byteCount)
    }
}
