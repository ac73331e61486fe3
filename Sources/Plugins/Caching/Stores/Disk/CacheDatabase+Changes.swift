#if SQLite || canImport(Darwin)
import Foundation

/// The latest removals of resources and accounts, so that no response is stored whose request began before one.
///
/// Bounded: after 1,000 removals, no response to an earlier request is stored.
extension CacheDatabase {
    private static let maximumChangeCount = 1_000

    /// Returns the number of the latest removal, and the open database that has counted it.
    func generation(_ connection: SQLiteConnection) throws(SQLiteError) -> Data {
        Data("\(try latestChange(connection)) \(opening)".utf8)
    }

    private func latestChange(_ connection: SQLiteConnection) throws(SQLiteError) -> Int {
        try connection.rows("SELECT max(number) FROM changes") { $0.optionalInteger(0) ?? 0 }.first ?? 0
    }

    /// Records a removal, in its transaction.
    func recordChange(_ removal: Removal, _ connection: SQLiteConnection) throws(SQLiteError) {
        guard let scope = removal.scope else { return }
        let number = try latestChange(connection) + 1
        try connection.run("INSERT OR REPLACE INTO changes VALUES (?, ?)", [.integer(number), .text(scope)])
        try connection.run("DELETE FROM changes WHERE number <= ?", [.integer(number - Self.maximumChangeCount)])
    }

    /// Returns whether a removal since a generation may have affected a key, or the database is not the one of then.
    func isChanged(
        _ key: CacheKey,
        since generation: Data,
        _ connection: SQLiteConnection
    ) throws(SQLiteError) -> Bool {
        let parts = String(decoding: generation, as: UTF8.self).split(separator: " ", maxSplits: 1)
        guard parts.count == 2, let start = Int(parts[0]), parts[1] == opening else { return true }
        guard try latestChange(connection) - start <= Self.maximumChangeCount else { return true }
        let scopes = [Removal.resource(key.resource), .account(key.account)].compactMap(\.scope)
        let changes = try connection.rows(
            "SELECT 1 FROM changes WHERE scope IN (?, ?) AND number > ?",
            scopes.map(SQLiteValue.text) + [.integer(start)]
        ) { $0.integer(0) }
        return !changes.isEmpty
    }
}

extension CacheDatabase.Removal {
    /// What the removal affects, as a text; `nil` if it is one entry.
    fileprivate var scope: String? {
        switch self {
        case .entry: nil
        case .resource(let resource): "r" + resource
        case .account(let account): "a" + account
        }
    }
}
#endif
