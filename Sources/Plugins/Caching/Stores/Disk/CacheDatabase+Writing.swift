#if SQLite || canImport(Darwin)
import Foundation

extension CacheDatabase {
    /// Stores an entry in place of those with the same identifier, or the same key and variant.
    ///
    /// The body is in a file, or in `bytes` if `name` is `nil`; `headers` are the header fields as in a row. Releases a
    /// part of ``reserved``, and returns the names of files that the database does not contain any more; `nil` if the
    /// entry is not stored because of a removal since `generation`.
    func insert(
        _ entry: CacheEntry,
        headers: Data,
        file name: String?,
        bytes: Data,
        reserved released: Int,
        ifUnchangedSince generation: Data?
    ) throws(CacheStoreError) -> [String]? {
        reserved.release(released)
        var isRefused = false
        let files = try write { connection throws(SQLiteError) in
            let key = entry.key.values
            var change = Change()
            if let generation { isRefused = try isChanged(entry.key, since: generation, connection) }
            guard !isRefused else { return change }
            change.remove(
                try connection.rows(
                    """
                    DELETE FROM entries
                    WHERE id = ? OR (resource = ? AND account = ? AND content = ? AND variant = ?)
                    RETURNING file, byteCount
                    """,
                    [.id(entry.id)] + key + [.text(entry.variant)],
                    read: RemovedRow.init
                )
            )
            try connection.run(
                """
                INSERT INTO entries(id, resource, account, content, variant, used, status, requestDate, responseDate,
                    firstByte, byteCount, totalByteCount, file, headers, body)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [.id(entry.id)] + key + [
                    .text(entry.variant), .integer(Self.now), .integer(entry.statusCode),
                    .integer(entry.requestDate.milliseconds), .integer(entry.responseDate.milliseconds),
                    .integer(entry.firstByte), .integer(entry.byteCount), .optional(entry.totalByteCount),
                    .optional(name), .blob(headers), name == nil ? .blob(bytes) : .null,
                ]
            )
            change.current = connection.lastRow
            if name != nil { change.fileByteCount += entry.byteCount }
            change.remove(
                try connection.rows(
                    """
                    DELETE FROM entries WHERE number IN (
                        SELECT number FROM entries WHERE resource = ? AND account = ? AND content = ?
                        ORDER BY responseDate DESC, number DESC LIMIT -1 OFFSET 16
                    ) RETURNING file, byteCount
                    """,
                    key,
                    read: RemovedRow.init
                )
            )
            return change
        }
        return isRefused ? nil : files
    }

    /// Replaces what a row contains, except for its key and its body.
    func update(_ entry: CacheEntry) throws(CacheStoreError) -> [String] {
        let headers = entry.headers.stored
        return try write { connection throws(SQLiteError) in
            let key = entry.key.values
            var change = Change()
            let found = try connection.rows(
                "SELECT number FROM entries WHERE id = ? AND resource = ? AND account = ? AND content = ?",
                [.id(entry.id)] + key
            ) { $0.integer(0) }
            guard let number = found.first else { return change }
            change.current = number
            change.remove(
                try connection.rows(
                    """
                    DELETE FROM entries
                    WHERE resource = ? AND account = ? AND content = ? AND variant = ? AND number <> ?
                    RETURNING file, byteCount
                    """,
                    key + [.text(entry.variant), .integer(number)],
                    read: RemovedRow.init
                )
            )
            try connection.run(
                """
                UPDATE entries SET variant = ?, used = ?, status = ?, requestDate = ?, responseDate = ?, firstByte = ?,
                    totalByteCount = ?, headers = ?
                WHERE number = ?
                """,
                [
                    .text(entry.variant), .integer(Self.now), .integer(entry.statusCode),
                    .integer(entry.requestDate.milliseconds), .integer(entry.responseDate.milliseconds),
                    .integer(entry.firstByte), .optional(entry.totalByteCount), .blob(headers), .integer(number),
                ]
            )
            uses[number] = nil
            return change
        }
    }

    // MARK: Removing

    /// What ``remove(_:)`` removes.
    enum Removal {
        case entry(UUID)
        case resource(String)
        case account(String)
    }

    /// Removes up to 200 entries, so that other calls do not wait for long.
    ///
    /// - Returns: the names of their files, and whether there may be more entries.
    func remove(_ removal: Removal) throws(CacheStoreError) -> (files: [String], isPartial: Bool) {
        let limit = 200
        var isPartial = false
        let files = try write { connection throws(SQLiteError) in
            let (condition, value): (String, SQLiteValue) =
                switch removal {
                case .entry(let id): ("id = ?", .id(id))
                case .resource(let resource): ("resource = ?", .text(resource))
                case .account(let account): ("account = ?", .text(account))
                }
            try recordChange(removal, connection)
            let removed = try connection.rows(
                """
                DELETE FROM entries WHERE number IN (SELECT number FROM entries WHERE \(condition) LIMIT \(limit))
                RETURNING file, byteCount
                """,
                [value],
                read: RemovedRow.init
            )
            isPartial = removed.count == limit
            var change = Change()
            change.remove(removed)
            return change
        }
        return (files, isPartial)
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
