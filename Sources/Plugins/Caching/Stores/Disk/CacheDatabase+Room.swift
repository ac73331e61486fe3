#if SQLite || canImport(Darwin)
import Foundation

extension CacheDatabase {
    /// Makes room for bytes of a body that is being written.
    ///
    /// - Returns: `false` if unfinished bodies occupy the whole store.
    func reserve(_ byteCount: Int) async throws(CacheStoreError) -> Bool {
        guard reserved.add(byteCount, upTo: maximumByteCount) else { return false }
        do throws(CacheStoreError) {
            let used = try perform { connection throws(SQLiteError) in try usedByteCount(connection) }
            if used > limit { try await write { _, _ throws(SQLiteError) in } }
            return true
        } catch {
            reserved.release(byteCount)
            throw error
        }
    }

    /// The bytes that entries may have.
    private var limit: Int { maximumByteCount - reserved.count }

    /// The bytes that the entries have on the disk: those of the pages in use, and of the files.
    private func usedByteCount(_ connection: SQLiteConnection) throws(SQLiteError) -> Int {
        let files = try connection.integer("SELECT byteCount FROM files")
        let pages = try connection.integer("PRAGMA page_count") - unusedPageCount(connection)
        return try files + pages * connection.integer("PRAGMA page_size")
    }

    private func unusedPageCount(_ connection: SQLiteConnection) throws(SQLiteError) -> Int {
        try connection.integer("PRAGMA freelist_count")
    }

    /// Removes the entries that were not used for the longest time until the others fit.
    func evict(_ change: inout Change, _ connection: SQLiteConnection) throws(SQLiteError) {
        let limit = limit
        guard try usedByteCount(connection) > limit else { return }
        try writeUses(connection)
        while try usedByteCount(connection) > limit {
            let count = try delete(
                "number = (SELECT number FROM entries WHERE number <> ? ORDER BY used, number LIMIT 1)",
                [.integer(change.current ?? 0)],
                &change,
                connection
            )
            // What is left is an empty database, or the one entry that was written.
            guard count > 0 else { return }
        }
    }

    /// Returns up to 4 MiB to the volume if as many bytes of the database are unused.
    func shrink(_ connection: SQLiteConnection) throws(SQLiteError) {
        guard try unusedPageCount(connection) > 1024 else { return }
        try connection.run("PRAGMA incremental_vacuum(1024)")
    }
}

extension SQLiteConnection {
    /// Returns the integer that a statement without parameters returns.
    fileprivate func integer(_ text: String) throws(SQLiteError) -> Int {
        guard let value = try rows(text, read: { $0.integer(0) }).first else { throw .damaged }
        return value
    }
}
#endif
