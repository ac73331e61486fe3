import Foundation
import HTTPTypes
import PipelineCaching
import Synchronization

/// A store that breaks the rule of one check.
struct BrokenCacheStore: CacheStore {
    /// The name of the check that must report the store.
    enum Fault: String, CaseIterable {
        case empty, secret, fields, pieces, largeBody, visibility, discard, replaced, order, variants, keys, update
        case remove, generation, reader, writers, concurrency, lock, lockExpiry, cancellation
    }

    private let base = MemoryCacheStore()
    private let writers = OpenWriters()
    private let fault: Fault

    init(_ fault: Fault) { self.fault = fault }

    func secret() async throws -> Data {
        fault == .secret ? Data(UUID().uuidString.utf8.prefix(32)) : await base.secret()
    }

    /// Returns a generation only if its writers do not compare it.
    func lookUp(_ key: CacheKey) async throws -> (entries: [CacheEntry], generation: Data?) {
        let entries = await base.lookUp(stored(key)).entries
        return (fault == .order ? entries.reversed() : entries, fault == .generation ? Data("1".utf8) : nil)
    }

    func body(of entry: CacheEntry) async throws -> (any CacheBodyReader)? {
        guard let reader = await base.body(of: entry) else { return fault == .empty ? EmptyBody() : nil }
        return BrokenCacheReader(base: reader, entry: entry, store: base, fault: fault)
    }

    func write(_ entry: CacheEntry, byteCount: Int?) async throws -> (any CacheBodyWriter)? {
        let entry = try await prepared(entry)
        guard let writer = await base.write(entry, byteCount: byteCount) else { return nil }
        writers.count.add(1, ordering: .relaxed)
        return BrokenCacheWriter(base: writer, entry: entry, store: base, open: writers, fault: fault)
    }

    func update(_ entry: CacheEntry) async throws {
        if fault != .update { await base.update(entry) }
    }

    func remove(_ entry: CacheEntry) async throws {
        await base.remove(entry)
        guard fault == .replaced else { return }
        for other in await base.lookUp(entry.key).entries where other.variant == entry.variant {
            await base.remove(other)
        }
    }

    func remove(resource: String) async throws { await base.remove(resource: resource) }

    func remove(account: String?) async throws {
        if fault != .remove || account == nil { await base.remove(account: account) }
    }

    func lock(_ key: CacheKey, for duration: Duration, at now: Date) async throws -> UUID? {
        if fault == .lock { return UUID() }
        return await base.lock(key, for: fault == .lockExpiry ? duration * 1_000 : duration, at: now)
    }

    func unlock(_ key: CacheKey, _ token: UUID) async throws { await base.unlock(key, token) }

    private func stored(_ key: CacheKey) -> CacheKey {
        fault == .keys ? CacheKey(resource: key.resource, account: key.account) : key
    }

    /// Returns what is stored in place of an entry.
    private func prepared(_ entry: CacheEntry) async throws -> CacheEntry {
        var stored = CacheEntry(
            id: entry.id,
            key: stored(entry.key),
            variant: entry.variant,
            statusCode: entry.statusCode,
            headers: entry.headers,
            requestDate: entry.requestDate,
            responseDate: entry.responseDate,
            firstByte: entry.firstByte
        )
        switch fault {
        case .fields: for name in Set(entry.headers.map(\.name)) { stored.headers[name] = entry.headers[name] }
        case .visibility: _ = try await base.write(stored, byteCount: 0)?.finish(totalByteCount: 0)
        case .variants:
            let entries = await base.lookUp(stored.key).entries
            if entries.count == 16 { await base.remove(entries[0]) }
        default: break
        }
        return stored
    }
}

/// The number of writers that have not ended.
final class OpenWriters: Sendable {
    let count = Atomic(0)
}

private struct EmptyBody: CacheBodyReader {
    var bytes: Data? { nil }
    func read(at offset: Int, upTo count: Int) async -> Data { Data() }
}

private struct BrokenCacheReader: CacheBodyReader {
    let base: any CacheBodyReader
    let entry: CacheEntry
    let store: MemoryCacheStore
    let fault: BrokenCacheStore.Fault

    var bytes: Data? { nil }

    func read(at offset: Int, upTo count: Int) async throws -> Data {
        if fault == .reader { return try await store.body(of: entry)?.read(at: offset, upTo: count) ?? Data() }
        return try await base.read(at: offset, upTo: fault == .pieces ? count + 1 : count)
    }
}

private struct BrokenCacheWriter: CacheBodyWriter {
    let base: any CacheBodyWriter
    let entry: CacheEntry
    let store: MemoryCacheStore
    let open: OpenWriters
    let fault: BrokenCacheStore.Fault

    func append(_ bytes: Data) async throws {
        switch fault {
        case .largeBody where bytes.count > 1_048_576: return
        case .cancellation where Task.isCancelled: return
        // Lets other tasks begin to write, if there are any.
        case .concurrency:
            for _ in 0..<100 where open.count.load(ordering: .relaxed) <= 6 { await Task.yield() }
        default: break
        }
        try await base.append(bytes)
    }

    func finish(totalByteCount: Int?, ifUnchangedSince generation: Data?) async throws -> CacheEntry? {
        let others = open.count.subtract(1, ordering: .relaxed).newValue
        let isLost =
            switch fault {
            case .writers: await store.lookUp(entry.key).entries.contains { $0.variant == entry.variant }
            case .concurrency: others > 5
            default: false
            }
        guard isLost else { return try await base.finish(totalByteCount: totalByteCount) }
        await base.discard()
        var lost = entry
        lost.byteCount = totalByteCount ?? 0
        lost.totalByteCount = totalByteCount
        return lost
    }

    func discard() async {
        open.count.subtract(1, ordering: .relaxed)
        if fault == .discard { _ = try? await base.finish(totalByteCount: nil) } else { await base.discard() }
    }
}
