#if SQLite || canImport(Darwin)
import Foundation
import PipelineFiles

/// The database of a ``DiskCacheStore``.
///
/// Its methods block and do not suspend. They run one after another on their own thread, and to their end even if the
/// task is cancelled. Methods that return names of files leave it to their caller to remove these.
actor CacheDatabase {
    private let executor = BlockingExecutor(label: "pipeline.cache")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    let folder: CacheFolder
    let maximumByteCount: Int
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
        let first = try current()
        do throws(SQLiteError) {
            return try work(first.connection)
        } catch {
            if !error.isTransient { close() }
            guard error.isCorrupt else { throw CacheStoreError(error, folder.store) }
        }
        let second = try open(replacing: first.name)
        do throws(SQLiteError) {
            return try work(second.connection)
        } catch {
            if !error.isTransient { close() }
            throw CacheStoreError(error, folder.store)
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
                var generator = SystemRandomNumberGenerator()
                let random = Data((0..<32).map { _ in UInt8.random(in: 0 ... .max, using: &generator) })
                try connection.run("INSERT OR IGNORE INTO secrets VALUES (1, ?)", [.blob(random)])
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
                SELECT \(CacheEntry.columns) FROM entries WHERE resource = ? AND account = ? AND content = ?
                ORDER BY responseDate DESC, number DESC
                """,
                key.values
            ) { CacheEntry(key: key, row: $0) }
            return (rows.compactMap(\.self), generation)
        }
    }

    /// A body as it is stored.
    enum Body {
        case bytes(Data)
        case file(OpenFile)
    }

    /// Opens the body of an entry; removes its row and returns `nil` if its file is missing or has another length.
    func body(of entry: CacheEntry) throws(CacheStoreError) -> Body? {
        var isDamaged = false
        let body = try perform { (connection) throws(SQLiteError) -> Body? in
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
        if isDamaged, let removed = try? remove(.entry(entry.id)) { removed.files.forEach(folder.remove) }
        return body
    }

    private func open(_ name: String?, _ bytes: Data, byteCount: Int) throws(SQLiteError) -> Body? {
        guard let name else { return bytes.count == byteCount ? .bytes(bytes) : nil }
        do throws(POSIXError) {
            return try folder.openBody(name, byteCount: byteCount).map(Body.file)
        } catch {
            throw SQLiteError(error)
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
#endif
