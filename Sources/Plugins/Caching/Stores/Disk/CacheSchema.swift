#if SQLite || canImport(Darwin)
/// The tables of a ``CacheDatabase``.
enum CacheSchema {
    /// The version in `PRAGMA user_version` and in the name of the file.
    ///
    /// Any change of the tables in ``creation`` increases it.
    static let version = 2

    /// Creates the tables; `files` contains the sum of the lengths of all files, so that no call has to add them up.
    ///
    /// `changes` contains the latest removals.
    ///
    /// Times are in milliseconds since 1970, `used` in microseconds. The body comes last, so that SQLite does not read
    /// it for the columns before it.
    static let creation = """
        PRAGMA auto_vacuum = INCREMENTAL;
        PRAGMA journal_mode = WAL;
        BEGIN IMMEDIATE;
        CREATE TABLE entries(
            number INTEGER PRIMARY KEY,
            id BLOB NOT NULL UNIQUE,
            resource TEXT NOT NULL, account TEXT NOT NULL, content TEXT NOT NULL, variant TEXT NOT NULL,
            used INTEGER NOT NULL, status INTEGER NOT NULL,
            requestDate INTEGER NOT NULL, responseDate INTEGER NOT NULL,
            firstByte INTEGER NOT NULL, byteCount INTEGER NOT NULL, totalByteCount INTEGER,
            file TEXT, headers BLOB NOT NULL, body BLOB,
            UNIQUE (resource, account, content, variant)
        );
        CREATE INDEX entriesByAccount ON entries(account);
        CREATE INDEX entriesByUse ON entries(used);
        CREATE INDEX entriesByFile ON entries(file, byteCount) WHERE file IS NOT NULL;
        CREATE TABLE files(one INTEGER PRIMARY KEY CHECK (one = 1), byteCount INTEGER NOT NULL);
        INSERT INTO files VALUES (1, 0);
        CREATE TRIGGER fileAdded AFTER INSERT ON entries WHEN new.file IS NOT NULL BEGIN
            UPDATE files SET byteCount = byteCount + new.byteCount;
        END;
        CREATE TRIGGER fileRemoved AFTER DELETE ON entries WHEN old.file IS NOT NULL BEGIN
            UPDATE files SET byteCount = byteCount - old.byteCount;
        END;
        CREATE TABLE locks(
            resource TEXT NOT NULL, account TEXT NOT NULL, content TEXT NOT NULL,
            token BLOB NOT NULL, expiry INTEGER NOT NULL,
            PRIMARY KEY (resource, account, content)
        ) WITHOUT ROWID;
        CREATE INDEX locksByExpiry ON locks(expiry);
        CREATE TABLE secrets(one INTEGER PRIMARY KEY CHECK (one = 1), bytes BLOB NOT NULL);
        CREATE TABLE changes(number INTEGER PRIMARY KEY, scope TEXT NOT NULL UNIQUE);
        PRAGMA user_version = \(version);
        COMMIT;
        """

    /// Applies to each connection; the log shrinks to 4 MiB after a large transaction.
    static let settings = """
        PRAGMA journal_mode = WAL;
        PRAGMA synchronous = NORMAL;
        PRAGMA journal_size_limit = 4194304;
        PRAGMA trusted_schema = OFF;
        """
}
#endif
