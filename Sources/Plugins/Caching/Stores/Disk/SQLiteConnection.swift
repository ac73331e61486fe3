#if SQLite || canImport(Darwin)
import Dispatch

#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

/// A connection to a database that keeps its prepared statements.
///
/// It must be used by one thread at a time. All methods block.
final class SQLiteConnection {
    /// How long a call waits for another connection, in milliseconds.
    static let patience: Int32 = 1_000

    private let database: OpaquePointer
    private var statements: [String: SQLiteStatement] = [:]

    /// Opens a file that exists; symbolic links are not followed.
    init(_ path: String) throws(SQLiteError) {
        var database: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
        let code = sqlite3_open_v2(path, &database, flags, nil)
        guard let database else { throw SQLiteError(code) }
        guard code == SQLITE_OK else {
            let error = SQLiteError(database)
            sqlite3_close(database)
            throw error
        }
        self.database = database
        sqlite3_busy_timeout(database, Self.patience)
    }

    /// Closes the database on another thread, because this can write to the disk.
    deinit {
        let closed = Closed(database: database, statements: statements.values.map(\.pointer))
        DispatchQueue.global(qos: .utility).async { closed.close() }
    }

    /// What is left of a connection.
    ///
    /// Unchecked, because the guard is that only one closure has it, and the connection itself is gone.
    private struct Closed: @unchecked Sendable {
        let database: OpaquePointer
        let statements: [OpaquePointer]

        func close() {
            for statement in statements { sqlite3_finalize(statement) }
            sqlite3_close(database)
        }
    }

    // MARK: Statements

    /// Runs a statement, and returns what `read` makes of each row.
    func rows<Row>(
        _ text: String,
        _ values: [SQLiteValue] = [],
        read: (SQLiteRow) -> Row
    ) throws(SQLiteError) -> [Row] {
        try statement(text).rows(values, read)
    }

    /// Runs a statement without a result.
    func run(_ text: String, _ values: [SQLiteValue] = []) throws(SQLiteError) {
        _ = try statement(text).rows(values) { _ in }
    }

    /// Runs statements without parameters and does not keep them.
    func execute(_ texts: String) throws(SQLiteError) {
        guard sqlite3_exec(database, texts, nil, nil, nil) == SQLITE_OK else { throw SQLiteError(database) }
    }

    /// The number of rows that the last statement has changed.
    var changeCount: Int { Int(sqlite3_changes(database)) }

    /// The number of the row that the last statement has inserted.
    var lastRow: Int { Int(clamping: sqlite3_last_insert_rowid(database)) }

    private func statement(_ text: String) throws(SQLiteError) -> SQLiteStatement {
        if let statement = statements[text] { return statement }
        var pointer: OpaquePointer?
        let code = sqlite3_prepare_v3(database, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
        guard code == SQLITE_OK, let pointer else {
            throw SQLiteError(database)
        }
        let statement = SQLiteStatement(pointer: pointer, database: database)
        statements[text] = statement
        return statement
    }

    // MARK: Transactions

    /// Runs a closure in a transaction that may write; an error undoes what it has done.
    ///
    /// If `waits` is `false`, the transaction fails at once while another connection writes.
    func transaction<Result>(
        waits: Bool = true,
        _ body: () throws(SQLiteError) -> Result
    ) throws(SQLiteError) -> Result {
        if !waits { sqlite3_busy_timeout(database, 0) }
        defer { if !waits { sqlite3_busy_timeout(database, Self.patience) } }
        try run("BEGIN IMMEDIATE")
        do throws(SQLiteError) {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            // Fails if SQLite has already undone the transaction.
            try? run("ROLLBACK")
            throw error
        }
    }
}
#endif
