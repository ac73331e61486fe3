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
        guard !isTooLarge, store.content.withLock({ $0.reserve(needed) }) else {
            release(body)
            throw Self.error(isTooLarge ? .tooLarge : .full)
        }
        body.reserved += needed
        body.pieces.append(bytes)
        let changed = body
        self.body.withLock { $0 = changed }
    }

    func finish(totalByteCount: Int?, ifUnchangedSince generation: Data?) async throws -> CacheEntry? {
        guard let body = take() else { throw Self.error(.ended) }
        var entry = entry
        entry.byteCount = body.pieces.byteCount
        entry.totalByteCount = totalByteCount
        let bytes = body.pieces.joined()
        return try store.content.withLock { content in
            content.release(body.reserved)
            if let generation, content.isChanged(entry.key, since: generation) { return nil }
            guard content.insert(entry, bytes) else { throw Self.error(.full) }
            return entry
        }
    }

    func discard() async { end() }

    private func end() {
        if let body = take() { release(body) }
    }

    private func release(_ body: Body) { store.content.withLock { $0.release(body.reserved) } }

    private func take() -> Body? { body.withLock { $0.take() } }

    private static func error(_ code: CacheStoreError.Code) -> CacheStoreError {
        CacheStoreError(code, "the cache in memory")
    }
}

/// The bytes of a body that is being written.
///
/// Large chunks are kept as they are until the body ends. Small ones are copied into blocks, so that a body of many
/// small chunks needs little more memory than its bytes, and does not keep the buffers that the chunks are parts of.
struct MemoryCachePieces {
    private static let keptByteCount = 4_096
    private static let blockByteCount = 16_384
    private static let overhead = 96

    private var pieces: [Data] = []
    private var room = 0
    /// The number of bytes.
    private(set) var byteCount = 0

    /// Returns the number of bytes of memory that are needed to append a chunk.
    func neededByteCount(for chunk: Data) -> Int {
        // The buffer of a chunk may be a quarter larger than its bytes.
        if isKept(chunk) { return chunk.count + chunk.count / 4 + Self.overhead }
        if pieces.isEmpty { return chunk.count + Self.overhead }
        return chunk.count <= room ? 0 : Self.blockByteCount + Self.overhead
    }

    mutating func append(_ chunk: Data) {
        byteCount += chunk.count
        if isKept(chunk) {
            pieces.append(chunk)
            room = 0
        } else if chunk.count <= room {
            pieces[pieces.count - 1].append(chunk)
            room -= chunk.count
        } else {
            // A small body often is one chunk, so the first piece has no room left over.
            let capacity = pieces.isEmpty ? chunk.count : Self.blockByteCount
            var block = Data(capacity: capacity)
            block.append(chunk)
            pieces.append(block)
            room = capacity - chunk.count
        }
    }

    /// Returns all bytes in a buffer without room left over, and frees the pieces one after another.
    ///
    /// A chunk that was kept is copied, because its buffer may be a quarter larger.
    consuming func joined() -> Data {
        if pieces.count == 1, byteCount < Self.keptByteCount, room == 0 { return pieces[0] }
        var all = Data(capacity: byteCount)
        for index in pieces.indices {
            all.append(pieces[index])
            pieces[index] = Data()
        }
        return all
    }

    private func isKept(_ chunk: Data) -> Bool { chunk.count >= Self.keptByteCount }
}
