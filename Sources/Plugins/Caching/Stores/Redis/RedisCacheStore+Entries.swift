#if Redis
public import Foundation
@_spi(Stores) import PipelineRedis

extension RedisCacheStore {
    /// Returns the variants of a key, the latest ``CacheEntry/responseDate`` first; empty if there are none.
    ///
    /// - Throws: ``CacheStoreError``.
    public func entries(for key: CacheKey) async throws -> [CacheEntry] { try await read(key).entries }

    /// Returns the variants of a key, the latest ``CacheEntry/responseDate`` first, and the generations of the store,
    /// of its resource and of its account.
    ///
    /// A generation is a random value that a removal deletes. If one is missing, a second round trip makes it, for an
    /// hour; a stored response prolongs it. A response is not stored if one of them was removed, has expired, or was
    /// evicted since its lookup.
    ///
    /// - Throws: ``CacheStoreError``.
    public func lookUp(_ key: CacheKey) async throws -> (entries: [CacheEntry], generation: Data?) {
        let (entries, current) = try await read(key)
        if current.count == RedisEntry.generationByteCount { return (entries, current) }
        let made = try await run(RedisScript.makeGenerations, key, [], [.bytes(Self.randomBytes(8))]).string
        guard let made, made.count == RedisEntry.generationByteCount else { throw CacheStoreError.redis(.corrupt) }
        return (entries, made)
    }

    /// Returns the variants of a key, and those of its generations that exist.
    private func read(_ key: CacheKey) async throws -> (entries: [CacheEntry], current: Data) {
        let names = keys.keys(for: key)
        let request = RedisRequest(["MGET"] + names[1...], ["HGETALL", names[0]])
        let replies = try await send(request)
        guard replies.count == 2, let found = replies[0].array, let values = replies[1].array else {
            throw CacheStoreError.redis(.corrupt)
        }
        let current = found.reduce(into: Data()) { $0 += $1.string ?? Data() }
        return (entries(in: values, current, key), current)
    }

    /// Returns the entries among the names and values of a hash, without those of former generations.
    private func entries(in values: [RedisReply], _ current: Data, _ key: CacheKey) -> [CacheEntry] {
        var entries: [CacheEntry] = []
        for index in stride(from: 1, to: values.count, by: 2) {
            guard let id = values[index - 1].string, let value = values[index].string,
                value.prefix(RedisEntry.generationByteCount) == current,
                let entry = RedisEntry.decode(value, id: id, key: key)
            else { continue }
            entries.append(entry)
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
        try await removeGeneration(keys.resource(resource))
    }

    /// Removes the responses of an account, or those of all accounts if it is `nil`, even if the task is cancelled.
    ///
    /// - Throws: ``CacheStoreError``.
    public func remove(account: String?) async throws {
        try await removeGeneration(account.map(keys.account) ?? keys.generation)
    }

    private func removeGeneration(_ name: String) async throws {
        _ = try await send(RedisRequest(["DEL", .text(name)]), survivesCancellation: true)
    }

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
