#if Redis
public import Foundation
@_spi(Stores) import PipelineRedis

extension RedisCacheStore {
    /// Returns 32 random bytes that all stores with the prefix share.
    ///
    /// They live longer than all entries. If Redis loses them, the next call makes new ones.
    ///
    /// - Throws: ``CacheStoreError``.
    public func secret() async throws -> Data {
        let name = RedisRequest.Argument.text(keys.secret)
        let lifetime = RedisRequest.Argument.number(timeToLive + 2 * RedisScript.readingTime)
        let request = RedisRequest(
            ["SET", name, .bytes(Self.randomBytes(32)), "NX", "EX", lifetime],
            ["EXPIRE", name, lifetime],
            ["GET", name]
        )
        let secret = try await send(request).last?.string
        guard let secret, secret.count == 32 else { throw CacheStoreError.redis(.corrupt, "no secret") }
        return secret
    }

    /// Takes the lock of a key, which expires by the clock of Redis.
    ///
    /// - Parameters:
    ///   - key: the key.
    ///   - duration: how long the lock is held unless it is released, more than zero; rounded up to milliseconds.
    ///   - now: ignored.
    /// - Returns: a token; `nil` if another has the lock.
    /// - Throws: ``CacheStoreError``.
    public func lock(_ key: CacheKey, for duration: Duration, at now: Date) async throws -> UUID? {
        precondition(duration > .zero, "the duration \(duration) of a lock is not positive")
        let token = UUID()
        let milliseconds = Int(min((duration / .milliseconds(1)).rounded(.up), 1e12))
        let request = RedisRequest([
            "SET", .text(keys.lock(key)), .text(token.uuidString), "NX", "PX", .number(milliseconds),
        ])
        do {
            return try await send(request).first?.string == nil ? nil : token
        } catch {
            // Redis may have given the lock to a caller that does not learn of it.
            post(unlocking(key, token))
            throw error
        }
    }

    /// Releases the lock of a key, even if the task is cancelled; does nothing if its token is another one.
    ///
    /// - Throws: ``CacheStoreError``.
    public func unlock(_ key: CacheKey, _ token: UUID) async throws {
        _ = try await send(unlocking(key, token), survivesCancellation: true)
    }

    private func unlocking(_ key: CacheKey, _ token: UUID) -> RedisRequest {
        RedisRequest(["EVAL", .text(RedisScript.unlock), "1", .text(keys.lock(key)), .text(token.uuidString)])
    }
}
#endif
