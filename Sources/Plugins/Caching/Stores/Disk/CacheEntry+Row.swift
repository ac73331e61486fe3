#if SQLite || canImport(Darwin)
import Foundation
import HTTPTypes

/// How an entry is stored in a row.
extension CacheEntry {
    /// The columns that ``init(key:row:)`` reads.
    static let columns = """
        id, variant, status, requestDate, responseDate, firstByte, byteCount, totalByteCount, headers
        """

    /// Reads a row that begins with ``columns``; `nil` if it is damaged.
    init?(key: CacheKey, row: SQLiteRow) {
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

extension Date {
    init(milliseconds: Int) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }

    /// The milliseconds since 1970, within what a database stores exactly.
    var milliseconds: Int {
        let value = (timeIntervalSince1970 * 1000).rounded()
        return value.isNaN ? 0 : Int(min(max(value, -9e15), 9e15))
    }
}

extension HTTPFields {
    /// The bytes of a row: for each field its name and its value, each after its length as four bytes.
    var stored: Data {
        var data = Data()
        func append(_ bytes: some Collection<UInt8>) {
            withUnsafeBytes(of: UInt32(clamping: bytes.count).littleEndian) { data.append(contentsOf: $0) }
            data.append(contentsOf: bytes)
        }
        for field in self {
            append(field.name.rawName.utf8)
            field.withUnsafeBytesOfValue { append($0) }
        }
        return data
    }

    /// Reads the bytes of a row; `nil` if they are damaged.
    init?(stored data: Data) {
        self.init()
        var rest = data[...]
        func next() -> Data? {
            guard rest.count >= 4 else { return nil }
            let count = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        while !rest.isEmpty {
            guard self.count < 10_000, let text = next(), let value = next(),
                let name = HTTPField.Name(String(decoding: text, as: UTF8.self))
            else { return nil }
            append(HTTPField(name: name, lenientValue: value))
        }
    }
}
#endif
