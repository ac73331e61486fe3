#if SQLite || canImport(Darwin)
import Foundation

#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

/// A value of a parameter of a statement.
enum SQLiteValue {
    case integer(Int)
    case text(String)
    case blob(Data)
    case null
}

extension SQLiteValue {
    static func optional(_ value: Int?) -> SQLiteValue { value.map(SQLiteValue.integer) ?? .null }
    static func optional(_ value: String?) -> SQLiteValue { value.map(SQLiteValue.text) ?? .null }

    /// The 16 bytes of an identifier.
    static func id(_ id: UUID) -> SQLiteValue { .blob(withUnsafeBytes(of: id.uuid) { Data($0) }) }
}

/// A prepared statement of a ``SQLiteConnection``, which has to outlive it.
struct SQLiteStatement {
    let pointer: OpaquePointer
    let database: OpaquePointer

    /// Runs the statement to its end, and returns what `read` makes of each row.
    ///
    /// The statement is reset afterwards, so it keeps no snapshot of the database.
    func rows<Row>(_ values: [SQLiteValue], _ read: (SQLiteRow) -> Row) throws(SQLiteError) -> [Row] {
        defer {
            sqlite3_reset(pointer)
            sqlite3_clear_bindings(pointer)
        }
        for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
        var rows: [Row] = []
        while true {
            switch sqlite3_step(pointer) {
            case SQLITE_ROW: rows.append(read(SQLiteRow(pointer: pointer)))
            case SQLITE_DONE: return rows
            default: throw SQLiteError(database)
            }
        }
    }

    /// Binds a value; SQLite keeps a copy.
    private func bind(_ value: SQLiteValue, at index: Int32) throws(SQLiteError) {
        // The C macro SQLITE_TRANSIENT, which Swift does not import.
        let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        let code: Int32 =
            switch value {
            case .integer(let value): sqlite3_bind_int64(pointer, index, Int64(value))
            case .text(let value): sqlite3_bind_text(pointer, index, value, Int32(value.utf8.count), transient)
            case .blob(let data) where data.isEmpty: sqlite3_bind_zeroblob(pointer, index, 0)
            case .blob(let data):
                data.withUnsafeBytes {
                    sqlite3_bind_blob64(pointer, index, $0.baseAddress, UInt64($0.count), transient)
                }
            case .null: sqlite3_bind_null(pointer, index)
            }
        guard code == SQLITE_OK else { throw SQLiteError(database) }
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
