#if SQLite || canImport(Darwin)
import Foundation

extension CacheDatabase {
    /// A row that was removed.
    struct RemovedRow {
        let file: String?
        let byteCount: Int

        /// Reads a row with the columns `file` and `byteCount`.
        init(_ row: SQLiteRow) {
            file = row.optionalText(0)
            byteCount = row.integer(1)
        }
    }

    /// What a transaction changes.
    struct Change {
        /// The row that is written, which is not evicted; `nil` if there is none.
        var current: Int?
        /// The bytes by which the files of all entries become longer.
        var fileByteCount = 0
        /// The files of removed rows.
        private(set) var files: [String] = []

        mutating func remove(_ rows: [RemovedRow]) {
            for row in rows {
                guard let file = row.file else { continue }
                files.append(file)
                fileByteCount -= row.byteCount
            }
        }
    }

    /// Makes room for bytes of a body that is being written.
    ///
    /// - Returns: the names of the files of evicted entries; `nil` if unfinished bodies occupy the whole store.
    func reserve(_ byteCount: Int) throws(CacheStoreError) -> [String]? {
        guard reserved.add(byteCount, upTo: maximumByteCount) else { return nil }
        do throws(CacheStoreError) {
            let used = try perform { connection throws(SQLiteError) in try usedByteCount(connection) }
            return used <= limit ? [] : try write { _ throws(SQLiteError) in Change() }
        } catch {
            reserved.release(byteCount)
            throw error
        }
    }

    /// Runs a closure in a transaction, and evicts what does not fit any more.
    ///
    /// - Returns: the names of the files of removed entries.
    func write(_ work: (SQLiteConnection) throws(SQLiteError) -> Change) throws(CacheStoreError) -> [String] {
        try perform { connection throws(SQLiteError) in
            let files = try connection.transaction { () throws(SQLiteError) in
                var change = try work(connection)
                try record(change.fileByteCount, connection)
                change.fileByteCount = 0
                try evict(&change, connection)
                return change.files
            }
            try? shrink(connection)
            return files
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

    private func record(_ fileByteCount: Int, _ connection: SQLiteConnection) throws(SQLiteError) {
        guard fileByteCount != 0 else { return }
        try connection.run("UPDATE files SET byteCount = byteCount + ?", [.integer(fileByteCount)])
    }

    /// Removes the entries that were not used for the longest time until the others fit.
    private func evict(_ change: inout Change, _ connection: SQLiteConnection) throws(SQLiteError) {
        let limit = limit
        guard try usedByteCount(connection) > limit else { return }
        try writeUses(connection)
        while try usedByteCount(connection) > limit {
            let removed = try connection.rows(
                """
                DELETE FROM entries
                WHERE number = (SELECT number FROM entries WHERE number <> ? ORDER BY used, number LIMIT 1)
                RETURNING file, byteCount
                """,
                [.integer(change.current ?? 0)],
                read: RemovedRow.init
            )
            // What is left is an empty database, or the one entry that was written.
            guard !removed.isEmpty else { return }
            change.remove(removed)
            try record(change.fileByteCount, connection)
            change.fileByteCount = 0
        }
    }

    /// Returns up to 4 MiB to the volume if as many bytes of the database are unused.
    private func shrink(_ connection: SQLiteConnection) throws(SQLiteError) {
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
