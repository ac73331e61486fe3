#if Redis
import Foundation
@_spi(Stores) import PipelineRedis

/// A body on its way to Redis, which is sent in pieces; the last one becomes visible together with the entry.
actor RedisBodyWriter: CacheBodyWriter {
    /// How long, in seconds, pieces live that do not belong to an entry yet.
    static let stagingTime = 3_600

    private var entry: CacheEntry
    private var rest = Data()
    private var pieceCount = 0
    private var hasEnded = false
    private let token = UUID().uuidString.replacing("-", with: "")
    private let store: RedisCacheStore

    init(_ entry: CacheEntry, store: RedisCacheStore) {
        self.entry = entry
        self.entry.byteCount = 0
        self.store = store
    }

    deinit {
        if !hasEnded { store.discard(pieceCount, of: token) }
    }

    func append(_ bytes: Data) async throws {
        guard !hasEnded else { throw CacheStoreError.redis(.ended) }
        guard bytes.count <= store.maximumBodyByteCount - entry.byteCount else {
            end()
            throw CacheStoreError.redis(.tooLarge)
        }
        entry.byteCount += bytes.count
        rest.append(bytes)
        // The last piece stays, even if it is full.
        while rest.count > RedisScript.pieceByteCount {
            let piece = rest.prefix(RedisScript.pieceByteCount)
            // A slice; a copy for each piece would take time that grows with the square of a body in memory.
            rest = rest.dropFirst(RedisScript.pieceByteCount)
            pieceCount += 1
            do {
                try await store.send(piece, number: pieceCount - 1, of: token)
            } catch {
                end()
                throw error
            }
        }
        rest = Data(rest)
    }

    func finish(totalByteCount: Int?, ifUnchangedSince generation: Data?) async throws -> CacheEntry? {
        guard !hasEnded else { throw CacheStoreError.redis(.ended) }
        entry.totalByteCount = totalByteCount
        do {
            let stored = try await store.publish(entry, token: token, lastPiece: rest, ifUnchangedSince: generation)
            if stored == nil { end() } else { hasEnded = true }
            return stored
        } catch {
            end()
            throw error
        }
    }

    func discard() { end() }

    private func end() {
        guard !hasEnded else { return }
        hasEnded = true
        rest = Data()
        store.discard(pieceCount, of: token)
    }
}

/// A body of several pieces in Redis.
struct RedisBodyReader: CacheBodyReader {
    let byteCount: Int
    let token: String
    let store: RedisCacheStore

    var bytes: Data? { nil }

    func read(at offset: Int, upTo count: Int) async throws -> Data {
        precondition(offset >= 0 && count > 0, "offset \(offset) is negative, or count \(count) is not positive")
        guard offset < byteCount else { return Data() }
        let (piece, start) = offset.quotientAndRemainder(dividingBy: RedisScript.pieceByteCount)
        let expected = min(count, byteCount - offset, RedisScript.pieceByteCount - start)
        let request = RedisRequest([
            "GETRANGE", .text(store.keys.piece(piece, of: token)), .number(start), .number(start + expected - 1),
        ])
        let data = try await store.send(request).first?.string
        guard let data, data.count == expected else {
            throw CacheStoreError.redis(.unavailable, "a part of a body has been evicted")
        }
        return data
    }
}
#endif
