#if SQLite || canImport(Darwin)
import Foundation

#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

/// A failure that SQLite reported.
struct SQLiteError: Error {
    /// The extended result code, such as `SQLITE_IOERR_WRITE`, whose last byte is the primary one.
    let extendedCode: Int32
    /// The error of the system; 0 if there was none.
    let systemCode: Int32

    init(_ extendedCode: Int32, systemCode: Int32 = 0) {
        self.extendedCode = extendedCode
        self.systemCode = systemCode
    }

    /// Creates the error of the last call that failed.
    init(_ database: OpaquePointer) {
        self.init(sqlite3_extended_errcode(database), systemCode: sqlite3_system_errno(database))
    }

    /// The primary result code, such as `SQLITE_BUSY`.
    var code: Int32 { extendedCode & 0xFF }

    /// The error of rows that this store cannot have written.
    static var damaged: SQLiteError { SQLiteError(SQLITE_CORRUPT) }

    /// Creates the error of a file that cannot be opened.
    init(_ error: POSIXError) {
        self.init(SQLITE_CANTOPEN, systemCode: error.code.rawValue)
    }

    /// Whether the file is damaged or is not a database.
    var isCorrupt: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }

    /// Whether a file could not be written; the C macros that say so have no name in Swift.
    fileprivate var isOfWriting: Bool {
        // SQLITE_IOERR_WRITE, _FSYNC, _DIR_FSYNC and _TRUNCATE.
        [3, 4, 5, 6].contains(extendedCode >> 8)
    }

    /// Whether the connection stays usable: another connection had the lock, or the volume is full.
    var isTransient: Bool { code == SQLITE_BUSY || code == SQLITE_FULL }
}

extension CacheStoreError {
    init(_ error: SQLiteError, _ store: String) {
        let detail =
            "SQLite \(error.extendedCode)" + (error.systemCode == 0 ? "" : ", errno \(error.systemCode)")
        let code: Code =
            switch error.code {
            case SQLITE_BUSY, SQLITE_LOCKED: .timedOut
            case SQLITE_FULL: .full
            case SQLITE_READONLY: .notWritable
            case SQLITE_PERM, SQLITE_AUTH: .notAllowed
            case SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_SCHEMA, SQLITE_MISMATCH: .corrupt
            case SQLITE_IOERR where error.isOfWriting: .notWritable
            default: POSIXErrorCode(rawValue: error.systemCode).flatMap(Code.init) ?? .unavailable
            }
        self.init(code, store, detail)
    }

    /// Creates the error for a failure of the system; `code` applies where its number does not say more.
    init(_ code: Code, _ store: String, _ error: POSIXError) {
        self.init(Code(error.code) ?? code, store, "errno \(error.code.rawValue)")
    }
}

extension CacheStoreError.Code {
    fileprivate init?(_ code: POSIXErrorCode) {
        switch code {
        case .ENOSPC, .EDQUOT, .EFBIG: self = .full
        case .EROFS: self = .notWritable
        case .EACCES, .EPERM, .ELOOP: self = .notAllowed
        case .EWOULDBLOCK: self = .timedOut
        default: return nil
        }
    }
}
#endif
