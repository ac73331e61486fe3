import Foundation
import PipelineCaching
import Synchronization

/// A store that calls a closure before each method, which can record it, fail, or wait.
struct WatchedStore: CacheStore {
    enum Method: CaseIterable {
        case secret, entries, body, read, write, append, finish, discard, update, lock, unlock
        case remove, removeResource, removeAccount
    }

    /// Does nothing until it is cancelled.
    static func hang() async throws {
        let never = AsyncStream<Never> { _ in }
        for await _ in never {}
        throw CancellationError()
    }

    private let store: any CacheStore
    private let isEmpty: Bool
    private let before: @Sendable (Method) async throws -> Void

    /// Creates a store around another one; if it `isEmpty`, its bodies have no bytes when they are read.
    init(
        _ store: any CacheStore = MemoryCacheStore(),
        isEmpty: Bool = false,
        before: @escaping @Sendable (Method) async throws -> Void
    ) {
        self.store = store
        self.isEmpty = isEmpty
        self.before = before
    }

    func secret() async throws -> Data {
        try await before(.secret)
        return try await store.secret()
    }

    func lookUp(_ key: CacheKey) async throws -> (entries: [CacheEntry], generation: Data?) {
        try await before(.entries)
        return try await store.lookUp(key)
    }

    func body(of entry: CacheEntry) async throws -> (any CacheBodyReader)? {
        try await before(.body)
        return try await store.body(of: entry).map { Reader(reader: $0, isEmpty: isEmpty, before: before) }
    }

    func write(_ entry: CacheEntry, byteCount: Int?) async throws -> (any CacheBodyWriter)? {
        try await before(.write)
        return try await store.write(entry, byteCount: byteCount).map { Writer(writer: $0, before: before) }
    }

    func update(_ entry: CacheEntry) async throws {
        try await before(.update)
        try await store.update(entry)
    }

    func remove(_ entry: CacheEntry) async throws {
        try await before(.remove)
        try await store.remove(entry)
    }

    func remove(resource: String) async throws {
        try await before(.removeResource)
        try await store.remove(resource: resource)
    }

    func remove(account: String?) async throws {
        try await before(.removeAccount)
        try await store.remove(account: account)
    }

    func lock(_ key: CacheKey, for duration: Duration, at now: Date) async throws -> UUID? {
        try await before(.lock)
        return try await store.lock(key, for: duration, at: now)
    }

    func unlock(_ key: CacheKey, _ token: UUID) async throws {
        try await before(.unlock)
        try await store.unlock(key, token)
    }

    /// A reader that reads in pieces.
    private struct Reader: CacheBodyReader {
        let reader: any CacheBodyReader
        let isEmpty: Bool
        let before: @Sendable (Method) async throws -> Void

        var bytes: Data? { nil }

        func read(at offset: Int, upTo count: Int) async throws -> Data {
            try await before(.read)
            return isEmpty ? Data() : try await reader.read(at: offset, upTo: count)
        }
    }

    private struct Writer: CacheBodyWriter {
        let writer: any CacheBodyWriter
        let before: @Sendable (Method) async throws -> Void

        func append(_ bytes: Data) async throws {
            try await before(.append)
            try await writer.append(bytes)
        }

        func finish(totalByteCount: Int?, ifUnchangedSince generation: Data?) async throws -> CacheEntry? {
            try await before(.finish)
            return try await writer.finish(totalByteCount: totalByteCount, ifUnchangedSince: generation)
        }

        func discard() async {
            try? await before(.discard)
            await writer.discard()
        }
    }
}

/// A log of the methods of a ``WatchedStore``.
final class StoreLog: Sendable {
    private let methods = Mutex<[WatchedStore.Method]>([])

    func add(_ method: WatchedStore.Method) { methods.withLock { $0.append(method) } }

    func count(of method: WatchedStore.Method) -> Int { methods.withLock { $0.count { $0 == method } } }
}
