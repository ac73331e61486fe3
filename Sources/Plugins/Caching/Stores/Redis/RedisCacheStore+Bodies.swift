#if Redis
import Foundation
@_spi(Stores) import PipelineRedis

extension RedisCacheStore {
    /// Opens the body of an entry; returns `nil` if the entry or a part of its body is gone.
    ///
    /// A body of up to 256 KiB is in memory. A longer one is read in pieces, for at least a minute after its entry was
    /// removed; after that, and if Redis evicts a piece, reading throws an error.
    ///
    /// - Throws: ``CacheStoreError``.
    public func body(of entry: CacheEntry) async throws -> (any CacheBodyReader)? {
        let reply = try await run(RedisScript.open, entry.key, [], [.text(entry.id.uuidString)])
        guard let values = reply.array, values.count >= 2, let token = values[0].string,
            let byteCount = values[1].integer, byteCount == entry.byteCount
        else { return nil }
        let bytes = values.dropFirst(2).first?.string
        guard bytes?.count ?? byteCount == byteCount else { return nil }
        if let bytes { return CacheBytes(bytes) }
        return RedisBodyReader(byteCount: byteCount, token: String(decoding: token, as: UTF8.self), store: self)
    }

    /// Begins to store a response.
    ///
    /// Bytes are sent in pieces of 256 KiB. An hour after a piece was sent, it is gone unless the entry is visible.
    ///
    /// - Returns: a writer; `nil` if the body is larger than the largest one, or the header fields than 256 KiB.
    public func write(_ entry: CacheEntry, byteCount: Int?) async throws -> (any CacheBodyWriter)? {
        guard byteCount ?? 0 <= maximumBodyByteCount, RedisEntry.encode(entry, token: "") != nil else { return nil }
        return RedisBodyWriter(entry, store: self)
    }

    // MARK: For a writer

    func send(_ piece: Data, number: Int, of token: String) async throws {
        let lifetime = RedisBodyWriter.stagingTime
        let key = keys.piece(number, of: token)
        _ = try await send(RedisRequest(["SET", .text(key), .bytes(piece), "EX", .number(lifetime)]))
    }

    /// Makes an entry visible and returns it as it is stored; `nil` if there was a removal since a generation.
    func publish(
        _ entry: CacheEntry,
        token: String,
        lastPiece: Data,
        ifUnchangedSince generation: Data?
    ) async throws -> CacheEntry? {
        let id = entry.id.uuidString
        let generations = Data(count: RedisEntry.generationByteCount)
        guard let value = RedisEntry.encode(entry, token: token),
            let stored = RedisEntry.decode(generations + value, id: Data(id.utf8), key: entry.key)
        else { throw CacheStoreError.redis(.tooLarge) }
        let arguments: [RedisRequest.Argument] = [
            .text(id), .bytes(value), .number(timeToLive), .bytes(.random(8)), .bytes(lastPiece),
            .bytes(generation ?? Data()),
        ]
        let reply = try await run(RedisScript.publish, entry.key, [.text(keys.secret)], arguments)
        if reply.integer == 2 { return nil }
        guard reply.integer == 1 else { throw CacheStoreError.redis(.full, "a part of the body was evicted") }
        return stored
    }

    /// Removes the pieces of a body that will not become visible.
    func discard(_ pieceCount: Int, of token: String) {
        guard pieceCount > 0 else { return }
        post(RedisRequest(["UNLINK"] + (0..<pieceCount).map { .text(keys.piece($0, of: token)) }))
    }
}
#endif
