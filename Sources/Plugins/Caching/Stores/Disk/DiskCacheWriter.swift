#if SQLite || canImport(Darwin)
import Foundation
import PipelineFiles
import Synchronization

/// A body that is being written to a ``DiskCacheStore``.
///
/// It is in memory as long as it is short. A longer one is in a file that the database does not contain before the body
/// is complete.
actor DiskCacheWriter: CacheBodyWriter {
    private enum Phase {
        case open
        /// A method is waiting for the disk.
        case busy
        case ended
    }

    /// The longest body in a row, and the fewest bytes that are written to a file at once.
    static let maximumRowByteCount = 32 << 10

    private let database: CacheDatabase
    private let maximumBodyByteCount: Int
    private let headers: Data
    private var entry: CacheEntry

    private var phase = Phase.open
    /// The bytes that are not in the file.
    private var buffer = Data()
    private var byteCount = 0
    private var file: (name: String, file: OpenFile)?
    private var reserved = 0

    /// Creates a writer; `headers` are the header fields of the entry, as in a row.
    init(_ entry: CacheEntry, headers: Data, _ database: CacheDatabase, maximumBodyByteCount: Int) {
        self.entry = entry
        self.headers = headers
        self.database = database
        self.maximumBodyByteCount = maximumBodyByteCount
    }

    deinit {
        database.reserved.release(reserved)
        guard let file else { return }
        database.pool.start { [folder = database.folder] in folder.removeUnfinished(file) }
    }

    func append(_ bytes: Data) async throws {
        try begin()
        guard bytes.count <= maximumBodyByteCount - byteCount else {
            await end()
            throw CacheStoreError(.tooLarge, database.folder.store)
        }
        byteCount += bytes.count
        buffer.append(bytes)
        if buffer.count > Self.maximumRowByteCount { try await performOrEnd(writeBuffer) }
        if phase == .ended { await end() } else { phase = .open }
    }

    func finish(totalByteCount: Int?, ifUnchangedSince generation: Data?) async throws -> CacheEntry? {
        try begin()
        entry.byteCount = byteCount
        entry.totalByteCount = totalByteCount
        var isStored = false
        try await performOrEnd { isStored = try await store(ifUnchangedSince: generation) }
        guard isStored else {
            await end()
            return nil
        }
        phase = .ended
        return entry
    }

    func discard() async {
        // The method that is waiting discards the body when it continues.
        if phase == .open { await end() } else { phase = .ended }
    }

    // MARK: Phases

    private func begin() throws {
        guard phase == .open else { throw CacheStoreError(.ended, database.folder.store) }
        phase = .busy
    }

    private func performOrEnd(_ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch {
            await end()
            throw error
        }
    }

    /// Discards what has been written.
    private func end() async {
        phase = .ended
        buffer = Data()
        database.reserved.release(reserved)
        reserved = 0
        guard let file else { return }
        self.file = nil
        await database.pool.run { [folder = database.folder] in folder.removeUnfinished(file) }
    }

    // MARK: Disk

    /// Moves the buffer to the file, which is created first.
    private func writeBuffer() async throws {
        let bytes = buffer
        buffer = Data()
        try await reserve()
        let folder = database.folder
        if file == nil {
            file = try await database.pool.run { [id = entry.id] () throws(CacheStoreError) in
                try folder.perform(.notWritable) { () throws(POSIXError) in try folder.makeBody(id) }
            }
        }
        guard let file else { return }
        try await database.pool.run { () throws(CacheStoreError) in
            try folder.perform(.notWritable) { () throws(POSIXError) in try file.file.append(bytes) }
        }
    }

    /// Reserves room for the bytes so far, in steps that are small for the store.
    private func reserve() async throws {
        guard byteCount > reserved else { return }
        let step = max(min(1 << 20, database.maximumByteCount / 64), 1)
        let added = min(byteCount - reserved + step, max(maximumBodyByteCount, byteCount) - reserved)
        guard try await database.reserve(added) else { throw CacheStoreError(.full, database.folder.store) }
        reserved += added
    }

    /// Makes the entry visible; returns `false` if there was a removal since a generation.
    private func store(ifUnchangedSince generation: Data?) async throws -> Bool {
        if file != nil, !buffer.isEmpty { try await writeBuffer() }
        let released = reserved
        reserved = 0
        let isStored = try await database.insert(
            entry,
            headers: headers,
            file: file?.name,
            bytes: buffer,
            reserved: released,
            ifUnchangedSince: generation
        )
        guard isStored else { return false }
        // Only now, so that another process does not regard the file as left by a crash.
        file?.file.unlock()
        file = nil
        buffer = Data()
        return true
    }
}

extension CacheFolder {
    fileprivate func removeUnfinished(_ body: (name: String, file: OpenFile)) {
        remove(body.name)
        body.file.unlock()
    }
}

/// The bytes that unfinished bodies of a store have, or may have next, in files.
final class ReservedBytes: Sendable {
    private let bytes = Mutex(0)

    var count: Int { bytes.withLock(\.self) }

    /// Adds bytes; returns `false` if there would be more than `maximum`.
    func add(_ count: Int, upTo maximum: Int) -> Bool {
        bytes.withLock { bytes in
            guard count <= maximum - bytes else { return false }
            bytes += count
            return true
        }
    }

    func release(_ count: Int) { bytes.withLock { $0 -= count } }
}
#endif
