#if SQLite || canImport(Darwin)
import Foundation
import HTTPTypes
import PipelineFiles

/// The database of a ``DiskCacheStore``.
///
/// Its methods block. They run one after another on their own thread, and to their end even if the task is cancelled.
/// They suspend only to remove the files of removed entries on another thread.
actor CacheDatabase {
    private let executor = BlockingExecutor(label: "pipeline.cache")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    let folder: CacheFolder
    let maximumByteCount: Int
    /// The threads for the files of bodies.
    let pool = BlockingPool(label: "pipeline.cache.bodies")
    nonisolated let reserved = ReservedBytes()

    private var file: CacheDatabaseFile?
    /// What identifies the open database; another one may have its name if the folder was removed meanwhile.
    var opening: String { file?.opening.uuidString ?? "" }
    private var knownSecret: Data?
    /// When entries were used, by their numbers, unless the database contains it.
    var uses: [Int: Int] = [:]
    private var firstUse = ContinuousClock.now

    init(_ folder: CacheFolder, maximumByteCount: Int) {
        self.folder = folder
        self.maximumByteCount = maximumByteCount
    }

    // MARK: Connection

    /// Runs a closure with the connection; runs it a second time with a new database if the first one is damaged.
    func perform<Result>(
        _ work: (SQLiteConnection) throws(SQLiteError) -> Result
    ) throws(CacheStoreError) -> Result {
        var file = try current()
        var isSecond = false
        while true {
            do throws(SQLiteError) {
                return try work(file.connection)
            } catch {
                if !error.isTransient { close() }
                guard error.isCorrupt, !isSecond else { throw CacheStoreError(error, folder.store) }
            }
            isSecond = true
            file = try open(replacing: file.name)
        }
    }

    private func current() throws(CacheStoreError) -> CacheDatabaseFile {
        if let file, file.isCurrent(in: folder) { return file }
        close()
        return try open(replacing: nil)
    }

    private func close() {
        file = nil
        knownSecret = nil
        uses = [:]
    }

    /// Replaces the current database by an empty one.
    func replace(secret: Data?) throws(CacheStoreError) {
        let name = try current().name
        close()
        _ = try open(replacing: name, secret: secret)
    }

    private func open(replacing name: String?, secret: Data? = nil) throws(CacheStoreError) -> CacheDatabaseFile {
        let opened = try CacheDatabaseFile.open(in: folder, replacing: name, secret: secret)
        file = opened
        // A failure leaves the files to the next store that opens the database.
        try? removeOrphans(opened.connection)
        return opened
    }

    private func removeOrphans(_ connection: SQLiteConnection) throws(SQLiteError) {
        let known = try connection.rows("SELECT file FROM entries WHERE file IS NOT NULL") { $0.text(0) }
        try folder.removeOrphans(known: Set(known)) { id throws(SQLiteError) in
            try connection.rows("SELECT file FROM entries WHERE id = ?", [.id(id)]) { $0.optionalText(0) }.first ?? nil
        }
    }

    // MARK: Secret

    func secret() throws(CacheStoreError) -> Data {
        try perform { connection throws(SQLiteError) in
            if let knownSecret { return knownSecret }
            var secret = try connection.rows("SELECT bytes FROM secrets") { $0.blob(0) }.first
            if secret == nil {
                try connection.run("INSERT OR IGNORE INTO secrets VALUES (1, ?)", [.blob(Data.random(32))])
                secret = try connection.rows("SELECT bytes FROM secrets") { $0.blob(0) }.first
            }
            guard let secret, secret.count == 32 else { throw SQLiteError.damaged }
            knownSecret = secret
            return secret
        }
    }

    // MARK: Reading

    /// Returns the entries of a key, and the generation of the database before they were read.
    func lookUp(_ key: CacheKey) throws(CacheStoreError) -> (entries: [CacheEntry], generation: Data) {
        try perform { connection throws(SQLiteError) in
            let generation = try generation(connection)
            let rows = try connection.rows(
                """
                SELECT id, variant, status, requestDate, responseDate, firstByte, byteCount, totalByteCount, headers
                FROM entries WHERE resource = ? AND account = ? AND content = ?
                ORDER BY responseDate DESC, number DESC
                """,
                key.values
            ) { CacheEntry(key: key, row: $0) }
            return (rows.compactMap(\.self), generation)
        }
    }

    /// Opens the body of an entry; removes its row and returns `nil` if its file is missing or has another length.
    func body(of entry: CacheEntry) async throws(CacheStoreError) -> (any CacheBodyReader)? {
        var isDamaged = false
        let body = try perform { (connection) throws(SQLiteError) -> (any CacheBodyReader)? in
            let found = try connection.rows(
                """
                SELECT number, file, body FROM entries
                WHERE id = ? AND resource = ? AND account = ? AND content = ? AND byteCount = ?
                """,
                [.id(entry.id)] + entry.key.values + [.integer(entry.byteCount)]
            ) { ($0.integer(0), $0.optionalText(1), $0.isNull(1) ? $0.blob(2) : Data()) }.first
            guard let (number, name, bytes) = found else { return nil }
            let body = try open(name, bytes, byteCount: entry.byteCount)
            isDamaged = body == nil
            if body != nil { use(number, connection) }
            return body
        }
        // The row stays if another process has the lock; the next call removes it.
        if isDamaged { _ = try? await remove(.entry(entry.id)) }
        return body
    }

    private func open(
        _ name: String?,
        _ bytes: Data,
        byteCount: Int
    ) throws(SQLiteError) -> (any CacheBodyReader)? {
        guard let name else { return bytes.count == byteCount ? CacheBytes(bytes) : nil }
        do throws(POSIXError) {
            guard let file = try folder.openBody(name, byteCount: byteCount) else { return nil }
            return DiskCacheReader(file: file, byteCount: byteCount, store: folder.store, pool: pool)
        } catch {
            throw SQLiteError(error)
        }
    }

    // MARK: Locks

    func lock(_ key: CacheKey, for duration: Duration, at now: Date) throws(CacheStoreError) -> UUID? {
        let token = UUID()
        let expiry = (now + max(duration / .seconds(1), 0.001)).milliseconds
        return try perform { connection throws(SQLiteError) in
            try connection.transaction { () throws(SQLiteError) in
                try connection.run("DELETE FROM locks WHERE expiry <= ?", [.integer(now.milliseconds)])
                try connection.run(
                    "INSERT OR IGNORE INTO locks(resource, account, content, token, expiry) VALUES (?, ?, ?, ?, ?)",
                    key.values + [.id(token), .integer(expiry)]
                )
                return connection.changeCount == 1 ? token : nil
            }
        }
    }

    func unlock(_ key: CacheKey, _ token: UUID) throws(CacheStoreError) {
        try perform { connection throws(SQLiteError) in
            try connection.run(
                "DELETE FROM locks WHERE resource = ? AND account = ? AND content = ? AND token = ?",
                key.values + [.id(token)]
            )
        }
    }

    // MARK: Use

    /// Notes that an entry is used; writes what was noted when there are 256 of them or the first is a minute old.
    private func use(_ number: Int, _ connection: SQLiteConnection) {
        if uses.isEmpty { firstUse = .now }
        uses[number] = Self.now
        guard uses.count >= 256 || firstUse.duration(to: .now) > .seconds(60) else { return }
        // A hit does not wait for another writer; the next one tries again, unless there are too many.
        try? connection.transaction(waits: false) { () throws(SQLiteError) in try writeUses(connection) }
        if uses.count >= 4096 { uses = [:] }
    }

    func writeUses(_ connection: SQLiteConnection) throws(SQLiteError) {
        for (number, used) in uses {
            try connection.run("UPDATE entries SET used = ? WHERE number = ?", [.integer(used), .integer(number)])
        }
        uses = [:]
    }

    /// The current time in microseconds.
    static var now: Int { Int(Date().timeIntervalSince1970 * 1_000_000) }
}

extension CacheEntry {
    /// Reads the columns of an entry; `nil` if they are damaged.
    fileprivate init?(key: CacheKey, row: SQLiteRow) {
        guard let id = row.id(0), let headers = HTTPFields(stored: row.blob(8)) else { return nil }
        self.init(
            id: id,
            key: key,
            variant: row.text(1),
            statusCode: row.integer(2),
            headers: headers,
            requestDate: Date(milliseconds: row.integer(3)),
            responseDate: Date(milliseconds: row.integer(4)),
            firstByte: row.integer(5),
            byteCount: row.integer(6),
            totalByteCount: row.optionalInteger(7)
        )
    }

    /// The entry with the dates that a row contains.
    var rounded: CacheEntry {
        var entry = self
        entry.requestDate = Date(milliseconds: requestDate.milliseconds)
        entry.responseDate = Date(milliseconds: responseDate.milliseconds)
        return entry
    }
}

extension CacheKey {
    /// The columns `resource`, `account` and `content`.
    var values: [SQLiteValue] { [.text(resource), .text(account), .text(content)] }
}
#endif
