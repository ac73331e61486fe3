import Foundation
import Synchronization

/// A body that is being written to a ``MemoryCacheStore``.
final class MemoryCacheWriter: CacheBodyWriter {
    private struct Body {
        var pieces = MemoryCachePieces()
        var reserved: Int
    }

    private let entry: CacheEntry
    private let store: MemoryCacheStore
    /// `nil` if the body has ended, and while a method uses it.
    private let body: Mutex<Body?>

    /// Creates a writer for which the store has reserved bytes.
    init(_ entry: CacheEntry, reserved: Int, store: MemoryCacheStore) {
        self.entry = entry
        self.store = store
        body = Mutex(Body(reserved: reserved))
    }

    deinit { end() }

    func append(_ bytes: Data) async throws {
        guard !bytes.isEmpty else { return }
        guard var body = take() else { throw Self.error(.ended) }
        let needed = body.pieces.neededByteCount(for: bytes)
        let isTooLarge = bytes.count > store.maximumBodyByteCount - body.pieces.byteCount
        guard !isTooLarge, store.reserve(needed) else {
            store.release(body.reserved)
            throw Self.error(isTooLarge ? .tooLarge : .full)
        }
        body.reserved += needed
        body.pieces.append(bytes)
        let changed = body
        self.body.withLock { $0 = changed }
    }

    func finish(totalByteCount: Int?) async throws -> CacheEntry {
        guard let entry = try store(totalByteCount, ifUnchangedSince: nil) else { throw Self.error(.ended) }
        return entry
    }

    func finish(totalByteCount: Int?, ifUnchangedSince generation: Data?) async throws -> CacheEntry? {
        try store(totalByteCount, ifUnchangedSince: generation)
    }

    private func store(_ totalByteCount: Int?, ifUnchangedSince generation: Data?) throws -> CacheEntry? {
        guard let body = take() else { throw Self.error(.ended) }
        var entry = entry
        entry.byteCount = body.pieces.byteCount
        entry.totalByteCount = totalByteCount
        let bytes = body.pieces.joined()
        let isStored = try store.insert(entry, bytes, reserved: body.reserved, ifUnchangedSince: generation)
        return isStored ? entry : nil
    }

    func discard() async { end() }

    private func end() {
        if let body = take() { store.release(body.reserved) }
    }

    private func take() -> Body? {
        body.withLock { $0.take() }
    }

    private static func error(_ code: CacheStoreError.Code) -> CacheStoreError {
        CacheStoreError(code, storeName)
    }

    static let storeName = "the cache in memory"
}
