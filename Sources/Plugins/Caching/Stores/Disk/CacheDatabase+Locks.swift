#if SQLite || canImport(Darwin)
import Foundation

extension CacheDatabase {
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
}
#endif
