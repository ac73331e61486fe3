#if Redis
public import Foundation
@_spi(Stores) import PipelineRedis

extension RedisCacheStore {
    /// Returns the variants of a key, the latest ``CacheEntry/responseDate`` first, and the generations of the store,
    /// of its resource and of its account.
    ///
    /// A generation is a random value that a removal deletes. If one is missing, a second round trip makes it, for an
    /// hour; a stored response prolongs it. A response is not stored if one of them was removed, has expired, or was
    /// evicted since its lookup.
    ///
    /// - Throws: ``CacheStoreError``.
    public func lookUp(_ key: CacheKey) async throws -> (entries: [CacheEntry], generation: Data?) {
        let names = keys.keys(for: key)
        let replies = try await send(RedisRequest(["MGET"] + names[1...], ["HGETALL", names[0]]))
        guard replies.count == 2, let found = replies[0].array, let values = replies[1].array else {
            throw CacheStoreError.redis(.corrupt)
        }
        let current = found.reduce(into: Data()) { $0 += $1.string ?? Data() }
        let entries = entries(in: values, current, key)
        if current.count == RedisEntry.generationByteCount { return (entries, current) }
        let made = try await run(RedisScript.makeGenerations, key, [], [.bytes(.random(8))]).string
        guard let made, made.count == RedisEntry.generationByteCount else { throw CacheStoreError.redis(.corrupt) }
        return (entries, made)
    }

    /// Returns the entries among the names and values of a hash, without those of former generations.
    private func entries(in values: [RedisReply], _ current: Data, _ key: CacheKey) -> [CacheEntry] {
        let entries = stride(from: 1, to: values.count, by: 2).compactMap { index -> CacheEntry? in
            guard let id = values[index - 1].string, let value = values[index].string,
                value.prefix(RedisEntry.generationByteCount) == current
            else { return nil }
            return RedisEntry.decode(value, id: id, key: key)
        }
        return entries.sorted { $0.responseDate > $1.responseDate }
    }

    /// Replaces what the store keeps about an entry, and renews its time to live; does nothing if the entry is gone.
    ///
    /// - Throws: ``CacheStoreError``, also if the header fields have more than 256 KiB; the entry is then as before.
    public func update(_ entry: CacheEntry) async throws {
        // The script replaces the token by that of the stored entry.
        let token = String(repeating: "0", count: RedisEntry.tokenByteCount)
        guard let value = RedisEntry.encode(entry, token: token) else { throw CacheStoreError.redis(.tooLarge) }
        let arguments: [RedisRequest.Argument] = [.text(entry.id.uuidString), .bytes(value), .number(timeToLive)]
        try await run(RedisScript.update, entry.key, [.text(keys.secret)], arguments, survivesCancellation: true)
    }

    /// Removes one entry, even if the task is cancelled.
    ///
    /// - Throws: ``CacheStoreError``.
    public func remove(_ entry: CacheEntry) async throws {
        try await run(RedisScript.remove, entry.key, [], [.text(entry.id.uuidString)], survivesCancellation: true)
    }

    /// Removes the responses of a resource, of all accounts, even if the task is cancelled.
    ///
    /// - Throws: ``CacheStoreError``.
    public func remove(resource: String) async throws {
        _ = try await send(RedisRequest(["DEL", .text(keys.resource(resource))]), survivesCancellation: true)
    }

    /// Removes the responses of an account, or those of all accounts if it is `nil`, even if the task is cancelled.
    ///
    /// - Throws: ``CacheStoreError``.
    public func remove(account: String?) async throws {
        let name = account.map(keys.account) ?? keys.generation
        _ = try await send(RedisRequest(["DEL", .text(name)]), survivesCancellation: true)
    }

    // MARK: Secret and locks

    /// Returns 32 random bytes that all stores with the prefix share.
    ///
    /// They live longer than all entries. If Redis loses them, the next call makes new ones.
    ///
    /// - Throws: ``CacheStoreError``.
    public func secret() async throws -> Data {
        let name = RedisRequest.Argument.text(keys.secret)
        let lifetime = RedisRequest.Argument.number(timeToLive + 2 * RedisScript.readingTime)
        let request = RedisRequest(
            ["SET", name, .bytes(.random(32)), "NX", "EX", lifetime],
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

    // MARK: Scripts

    /// Runs a script on the keys of an entry and returns its reply.
    @discardableResult
    func run(
        _ script: String,
        _ key: CacheKey,
        _ moreKeys: [RedisRequest.Argument],
        _ arguments: [RedisRequest.Argument],
        survivesCancellation: Bool = false
    ) async throws -> RedisReply {
        let names = keys.keys(for: key) + moreKeys
        let command: [RedisRequest.Argument] =
            ["EVAL", .text(script), .number(names.count)] + names + [.text(keys.pieces)] + arguments
        let replies = try await send(RedisRequest(command), survivesCancellation: survivesCancellation)
        return replies.first ?? .null
    }
}
#endif
