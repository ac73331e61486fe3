#if Redis
import Foundation

extension RedisCacheStore {
    /// Returns the variants of a key, the latest ``CacheEntry/responseDate`` first; empty if there are none.
    ///
    /// - Throws: ``CacheStoreError``.
    public func entries(for key: CacheKey) async throws -> [CacheEntry] {
        let names = keys.keys(for: key)
        let replies = try await client.send(RedisRequest(["MGET"] + names[1...], ["HGETALL", names[0]]))
        guard replies.count == 2, let generations = replies[0].array, let values = replies[1].array else {
            throw CacheStoreError.redis(.corrupt)
        }
        guard !values.isEmpty else { return [] }
        let current = generations.reduce(into: Data()) { $0 += $1.string ?? Data() }
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
        let request = RedisRequest(["DEL", .text(keys.resource(resource))])
        _ = try await client.send(request, survivesCancellation: true)
    }

    /// Removes the responses of an account, or those of all accounts if it is `nil`, even if the task is cancelled.
    ///
    /// - Throws: ``CacheStoreError``.
    public func remove(account: String?) async throws {
        let request = RedisRequest(["DEL", .text(account.map(keys.account) ?? keys.generation)])
        _ = try await client.send(request, survivesCancellation: true)
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
        let replies = try await client.send(RedisRequest(command), survivesCancellation: survivesCancellation)
        return replies.first ?? .null
    }
}
#endif
