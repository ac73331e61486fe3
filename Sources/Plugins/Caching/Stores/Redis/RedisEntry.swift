#if Redis
import Foundation
import HTTPTypes

/// The form of an entry in Redis, without its id and its key.
///
/// The first fields have fixed positions, because scripts read them. Integers are big-endian.
///
/// | bytes | field |
/// |---|---|
/// | 24 | the generations under which it was stored; a script adds them |
/// | 32 | the token of the body, in hexadecimal |
/// | 8 | the number of bytes |
/// | 8 | the response date in milliseconds |
/// | 2 + n | the variant |
/// | 2, 8, 8, 8 | status code, request date, first byte, total byte count or -1 |
/// | (2 + n, 4 + n)… | names and values of the header fields |
enum RedisEntry {
    /// Where the fields about the body end, counted with the generations.
    static let bodyEnd = generationByteCount + tokenByteCount + 8
    static let generationByteCount = 24
    static let tokenByteCount = 32
    /// The largest form of an entry that is stored.
    static let maximumByteCount = 256 << 10

    /// Returns the form of an entry without generations; `nil` if it is too large.
    static func encode(_ entry: CacheEntry, token: String) -> Data? {
        var data = Data()
        data.append(contentsOf: token.utf8)
        data.append(UInt64(clamping: entry.byteCount))
        data.append(milliseconds(entry.responseDate))
        guard data.append(entry.variant.utf8, lengthAs: UInt16.self) else { return nil }
        data.append(UInt16(clamping: entry.statusCode))
        data.append(milliseconds(entry.requestDate))
        data.append(UInt64(clamping: entry.firstByte))
        data.append(Int64(entry.totalByteCount ?? -1))
        for field in entry.headers {
            guard data.append(field.name.rawName.utf8, lengthAs: UInt16.self) else { return nil }
            let isAppended = field.withUnsafeBytesOfValue { data.append($0, lengthAs: UInt32.self) }
            guard isAppended, data.count <= maximumByteCount else { return nil }
        }
        return data
    }

    /// Returns the entry in a value of Redis; `nil` if it is damaged.
    static func decode(_ value: Data, id: Data, key: CacheKey) -> CacheEntry? {
        var reader = Reader(bytes: value.dropFirst(generationByteCount + tokenByteCount))
        guard let id = UUID(uuidString: String(decoding: id, as: UTF8.self)),
            let byteCount: UInt64 = reader.integer(), let responseDate: Int64 = reader.integer(),
            let variant = reader.bytes(lengthAs: UInt16.self), let statusCode: UInt16 = reader.integer(),
            let requestDate: Int64 = reader.integer(), let firstByte: UInt64 = reader.integer(),
            let totalByteCount: Int64 = reader.integer()
        else { return nil }
        var headers = HTTPFields()
        while !reader.isAtEnd {
            // As on disk; the type of the fields stops the process beyond 65,535.
            guard headers.count < 10_000, let nameBytes = reader.bytes(lengthAs: UInt16.self),
                let name = HTTPField.Name(String(decoding: nameBytes, as: UTF8.self)),
                let value = reader.bytes(lengthAs: UInt32.self)
            else { return nil }
            headers.append(HTTPField(name: name, lenientValue: value))
        }
        return CacheEntry(
            id: id,
            key: key,
            variant: String(decoding: variant, as: UTF8.self),
            statusCode: Int(statusCode),
            headers: headers,
            requestDate: Date(timeIntervalSince1970: Double(requestDate) / 1000),
            responseDate: Date(timeIntervalSince1970: Double(responseDate) / 1000),
            firstByte: Int(clamping: firstByte),
            byteCount: Int(clamping: byteCount),
            totalByteCount: totalByteCount < 0 ? nil : Int(clamping: totalByteCount)
        )
    }

    /// Returns a date in milliseconds since 1970, within the years that scripts can compare exactly.
    private static func milliseconds(_ date: Date) -> Int64 {
        let limit = 1e15
        let value = (date.timeIntervalSince1970 * 1000).rounded()
        return Int64(value.isNaN ? 0 : min(max(value, -limit), limit))
    }

    private struct Reader {
        var bytes: Data

        var isAtEnd: Bool { bytes.isEmpty }

        mutating func integer<Integer: FixedWidthInteger>() -> Integer? {
            guard let bytes = take(Integer.bitWidth / 8) else { return nil }
            return bytes.reduce(0) { $0 << 8 | Integer(truncatingIfNeeded: $1) }
        }

        mutating func bytes<Length: FixedWidthInteger>(lengthAs type: Length.Type) -> Data? {
            guard let length: Length = integer() else { return nil }
            return take(Int(clamping: length))
        }

        private mutating func take(_ count: Int) -> Data? {
            guard bytes.count >= count else { return nil }
            defer { bytes = bytes.dropFirst(count) }
            return bytes.prefix(count)
        }
    }
}

extension Data {
    fileprivate mutating func append(_ integer: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: integer.bigEndian) { append(contentsOf: $0) }
    }

    /// Appends bytes after their number; returns `false` if the number does not fit its type.
    fileprivate mutating func append<Length: FixedWidthInteger>(
        _ bytes: some Collection<UInt8>,
        lengthAs type: Length.Type
    ) -> Bool {
        guard let length = Length(exactly: bytes.count) else { return false }
        append(length)
        append(contentsOf: bytes)
        return true
    }
}
#endif
