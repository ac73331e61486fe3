#if Redis
public import Foundation

extension RedisCacheStore {
    /// Returns the variants of a key, the latest ``CacheEntry/responseDate`` first; empty if there are none.
    ///
    /// - Throws: ``CacheStoreError``.
    public func entries(for key: CacheKey) async throws -> [CacheEntry] { try await lookUp(key).entries }

    /// Returns the variants of a key, the latest ``CacheEntry/responseDate`` first, and the latest removals of its
    /// resource and its account.
    ///
    /// Redis keeps removals for a day, unless it evicts them. A response whose request takes longer may be stored
    /// although another process has removed the responses of its resource.
    ///
    /// - Throws: ``CacheStoreError``.
    public func lookUp(_ key: CacheKey) async throws -> (entries: [CacheEntry], generation: Data?) {
        let (names, changes) = (keys.keys(for: key), keys.changes(for: key))
        let request = RedisRequest(["MGET"] + changes + names[1...], ["HGETALL", names[0]])
        let replies = try await client.send(request)
        guard replies.count == 2, let found = replies[0].array, let values = replies[1].array else {
            throw CacheStoreError.redis(.corrupt)
        }
        let latest = found.prefix(changes.count).reduce(into: Data()) { all, change in
            all += change.string ?? Data("-".utf8)
            all.append(UInt8(ascii: ";"))
        }
        let current = found.dropFirst(changes.count).reduce(into: Data()) { $0 += $1.string ?? Data() }
        return (entries(in: values, current, key), latest)
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
        try await remove(keys.resource(resource), keys.change(ofResource: resource))
    }

    /// Removes the responses of an account, or those of all accounts if it is `nil`, even if the task is cancelled.
    ///
    /// - Throws: ``CacheStoreError``.
    public func remove(account: String?) async throws {
        try await remove(account.map(keys.account) ?? keys.generation, keys.change(ofAccount: account))
    }

    /// Removes a generation and records that, so that no response to an earlier request is published after it.
    private func remove(_ generation: String, _ change: String) async throws {
        let request = RedisRequest([
            "EVAL", .text(RedisScript.removeGeneration), "2", .text(generation), .text(change),
            .bytes(Self.randomBytes(8)),
        ])
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
