#if Redis
import Foundation
@_spi(Stores) import PipelineRedis

/// A body in Redis; in memory if it is one piece.
struct RedisBodyReader: CacheBodyReader {
    let bytes: Data?
    let byteCount: Int
    let token: String
    let store: RedisCacheStore

    func read(at offset: Int, upTo count: Int) async throws -> Data {
        precondition(offset >= 0 && count > 0, "offset \(offset) is negative, or count \(count) is not positive")
        guard offset < byteCount else { return Data() }
        if let bytes { return bytes.subdata(in: offset..<offset + min(count, byteCount - offset)) }
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
