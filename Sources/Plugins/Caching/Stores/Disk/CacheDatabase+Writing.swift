#if SQLite || canImport(Darwin)
import Foundation
import PipelineFiles

extension CacheDatabase {
    /// What a transaction changes.
    struct Change {
        /// The row that is written, which is not evicted; `nil` if there is none.
        var current: Int?
        /// The files of removed rows.
        var files: [String] = []
    }

    /// Runs a closure in a transaction, evicts what does not fit any more, and removes the files of removed entries.
    func write(
        _ work: (SQLiteConnection, inout Change) throws(SQLiteError) -> Void
    ) async throws(CacheStoreError) {
        let files = try perform { connection throws(SQLiteError) in
            let files = try connection.transaction { () throws(SQLiteError) in
                var change = Change()
                try work(connection, &change)
                try evict(&change, connection)
                return change.files
            }
            try? shrink(connection)
            return files
        }
        if !files.isEmpty { await pool.run { [folder] in files.forEach(folder.remove) } }
    }

    /// Removes the rows that meet a condition; returns their number.
    @discardableResult
    func delete(
        _ condition: String,
        _ values: [SQLiteValue],
        _ change: inout Change,
        _ connection: SQLiteConnection
    ) throws(SQLiteError) -> Int {
        let files = try connection.rows("DELETE FROM entries WHERE \(condition) RETURNING file", values) {
            $0.optionalText(0)
        }
        change.files += files.compactMap(\.self)
        return files.count
    }

    // MARK: Entries

    /// The columns that an update changes.
    private static let columns =
        "variant, used, status, requestDate, responseDate, firstByte, totalByteCount, headers"

    /// The values of ``columns``; `headers` are the header fields as in a row.
    private static func values(_ entry: CacheEntry, _ headers: Data) -> [SQLiteValue] {
        [
            .text(entry.variant), .integer(now), .integer(entry.statusCode), .integer(entry.requestDate.milliseconds),
            .integer(entry.responseDate.milliseconds), .integer(entry.firstByte), .integer(entry.totalByteCount),
            .blob(headers),
        ]
    }

    /// Stores an entry in place of those with the same identifier, or the same key and variant.
    ///
    /// The body is in a file, or in `bytes` if `name` is `nil`; `headers` are the header fields as in a row. Releases a
    /// part of ``reserved``. Returns `false` if the entry is not stored because of a removal since `generation`.
    func insert(
        _ entry: CacheEntry,
        headers: Data,
        file name: String?,
        bytes: Data,
        reserved released: Int,
        ifUnchangedSince generation: Data?
    ) async throws(CacheStoreError) -> Bool {
        reserved.release(released)
        var isStored = true
        try await write { connection, change throws(SQLiteError) in
            let key = entry.key.values
            if let generation { isStored = try !isChanged(entry.key, since: generation, connection) }
            guard isStored else { return }
            try delete(
                "id = ? OR (resource = ? AND account = ? AND content = ? AND variant = ?)",
                [.id(entry.id)] + key + [.text(entry.variant)],
                &change,
                connection
            )
            try connection.run(
                """
                INSERT INTO entries(id, resource, account, content, \(Self.columns), byteCount, file, body)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [.id(entry.id)] + key + Self.values(entry, headers)
                    + [.integer(entry.byteCount), .text(name), .blob(name == nil ? bytes : nil)]
            )
            change.current = connection.lastRow
            try delete(
                """
                number IN (
                    SELECT number FROM entries WHERE resource = ? AND account = ? AND content = ?
                    ORDER BY responseDate DESC, number DESC LIMIT -1 OFFSET 16
                )
                """,
                key,
                &change,
                connection
            )
        }
        return isStored
    }

    /// Replaces what a row contains, except for its key and its body.
    func update(_ entry: CacheEntry) async throws(CacheStoreError) {
        try await write { connection, change throws(SQLiteError) in
            let key = entry.key.values
            let found = try connection.rows(
                "SELECT number FROM entries WHERE id = ? AND resource = ? AND account = ? AND content = ?",
                [.id(entry.id)] + key
            ) { $0.integer(0) }
            guard let number = found.first else { return }
            change.current = number
            try delete(
                "resource = ? AND account = ? AND content = ? AND variant = ? AND number <> ?",
                key + [.text(entry.variant), .integer(number)],
                &change,
                connection
            )
            try connection.run(
                "UPDATE entries SET (\(Self.columns)) = (?, ?, ?, ?, ?, ?, ?, ?) WHERE number = ?",
                Self.values(entry, entry.headers.stored) + [.integer(number)]
            )
            uses[number] = nil
        }
    }

    // MARK: Removing

    /// What ``remove(_:)`` removes.
    enum Removal {
        case entry(UUID)
        case resource(String)
        case account(String)
    }

    /// Removes up to 200 entries, so that other calls do not wait for long; returns whether there may be more.
    func remove(_ removal: Removal) async throws(CacheStoreError) -> Bool {
        let (condition, value): (String, SQLiteValue) =
            switch removal {
            case .entry(let id): ("id = ?", .id(id))
            case .resource(let resource): ("resource = ?", .text(resource))
            case .account(let account): ("account = ?", .text(account))
            }
        var count = 0
        try await write { connection, change throws(SQLiteError) in
            try recordChange(removal, connection)
            count = try delete(
                "number IN (SELECT number FROM entries WHERE \(condition) LIMIT 200)",
                [value],
                &change,
                connection
            )
        }
        return count == 200
    }

    /// Replaces the database by an empty one with the same secret, and removes all bodies except for unfinished ones.
    ///
    /// This needs little time and disk space, however many rows there are. Locks are lost; without them, a response may
    /// be revalidated twice.
    func removeAll() throws(CacheStoreError) {
        // A full disk may keep an unused secret from being stored.
        let secret = try? secret()
        try replace(secret: secret)
    }
}
#endif
