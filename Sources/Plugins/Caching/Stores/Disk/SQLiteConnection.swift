#if SQLite || canImport(Darwin)
import Foundation

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
    private var statements: [String: OpaquePointer] = [:]

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
        let closed = Closed(database: database, statements: Array(statements.values))
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

    /// Runs a statement to its end, and returns what `read` makes of each row.
    ///
    /// The statement is reset afterwards, so it keeps no snapshot of the database.
    func rows<Row>(
        _ text: String,
        _ values: [SQLiteValue] = [],
        read: (SQLiteRow) -> Row
    ) throws(SQLiteError) -> [Row] {
        let statement = try statement(text)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() {
            guard value.bind(to: statement, at: Int32(index + 1)) == SQLITE_OK else { throw SQLiteError(database) }
        }
        var rows: [Row] = []
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW: rows.append(read(SQLiteRow(pointer: statement)))
            case SQLITE_DONE: return rows
            default: throw SQLiteError(database)
            }
        }
    }

    /// Runs a statement without a result.
    func run(_ text: String, _ values: [SQLiteValue] = []) throws(SQLiteError) {
        _ = try rows(text, values) { _ in }
    }

    /// Runs statements without parameters and does not keep them.
    func execute(_ texts: String) throws(SQLiteError) {
        guard sqlite3_exec(database, texts, nil, nil, nil) == SQLITE_OK else { throw SQLiteError(database) }
    }

    /// The number of rows that the last statement has changed.
    var changeCount: Int { Int(sqlite3_changes(database)) }

    /// The number of the row that the last statement has inserted.
    var lastRow: Int { Int(clamping: sqlite3_last_insert_rowid(database)) }

    private func statement(_ text: String) throws(SQLiteError) -> OpaquePointer {
        if let statement = statements[text] { return statement }
        var pointer: OpaquePointer?
        let code = sqlite3_prepare_v3(database, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, nil)
        guard code == SQLITE_OK, let pointer else { throw SQLiteError(database) }
        statements[text] = pointer
        return pointer
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

/// A value of a parameter of a statement.
enum SQLiteValue {
    case integer(Int?)
    case text(String?)
    case blob(Data?)

    /// The 16 bytes of an identifier.
    static func id(_ id: UUID) -> SQLiteValue { .blob(withUnsafeBytes(of: id.uuid) { Data($0) }) }

    /// Binds the value to a parameter, of which SQLite keeps a copy; returns the result code.
    fileprivate func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
        // The C macro SQLITE_TRANSIENT, which Swift does not import.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        return switch self {
        case .integer(let value?): sqlite3_bind_int64(statement, index, Int64(value))
        case .text(let value?): sqlite3_bind_text(statement, index, value, Int32(value.utf8.count), transient)
        case .blob(let data?) where data.isEmpty: sqlite3_bind_zeroblob(statement, index, 0)
        case .blob(let data?):
            data.withUnsafeBytes {
                sqlite3_bind_blob64(statement, index, $0.baseAddress, UInt64($0.count), transient)
            }
        case .integer(nil), .text(nil), .blob(nil): sqlite3_bind_null(statement, index)
        }
    }
}

/// The current row of a statement.
struct SQLiteRow {
    fileprivate let pointer: OpaquePointer

    func isNull(_ column: Int32) -> Bool { sqlite3_column_type(pointer, column) == SQLITE_NULL }
    func integer(_ column: Int32) -> Int { Int(clamping: sqlite3_column_int64(pointer, column)) }
    func optionalInteger(_ column: Int32) -> Int? { isNull(column) ? nil : integer(column) }
    func text(_ column: Int32) -> String { sqlite3_column_text(pointer, column).map { String(cString: $0) } ?? "" }
    func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

    func blob(_ column: Int32) -> Data {
        guard let bytes = sqlite3_column_blob(pointer, column) else { return Data() }
        return Data(bytes: bytes, count: Int(sqlite3_column_bytes(pointer, column)))
    }

    /// Returns the identifier in a column; `nil` if it does not have 16 bytes.
    func id(_ column: Int32) -> UUID? {
        guard let bytes = sqlite3_column_blob(pointer, column), sqlite3_column_bytes(pointer, column) == 16
        else { return nil }
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
}
#endif
