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
/// | n | the header fields, as ``HTTPTypes/HTTPFields/stored`` |
enum RedisEntry {
    /// Where the fields about the body end, counted with the generations.
    static let bodyEnd = generationByteCount + tokenByteCount + 8
    static let generationByteCount = 24
    static let tokenByteCount = 32
    /// The largest form of an entry that is stored.
    static let maximumByteCount = 256 << 10

    /// Returns the form of an entry without generations; `nil` if it is too large.
    static func encode(_ entry: CacheEntry, token: String) -> Data? {
        guard let variantByteCount = UInt16(exactly: entry.variant.utf8.count) else { return nil }
        var data = Data(token.utf8)
        data.append(entry.byteCount)
        data.append(entry.responseDate.milliseconds)
        data.append(variantByteCount)
        data.append(contentsOf: entry.variant.utf8)
        data.append(UInt16(clamping: entry.statusCode))
        data.append(entry.requestDate.milliseconds)
        data.append(entry.firstByte)
        data.append(entry.totalByteCount ?? -1)
        data.append(entry.headers.stored)
        return data.count <= maximumByteCount ? data : nil
    }

    /// Returns the entry in a value of Redis; `nil` if it is damaged.
    static func decode(_ value: Data, id: Data, key: CacheKey) -> CacheEntry? {
        var rest = value.dropFirst(generationByteCount + tokenByteCount)
        func integer<Integer: FixedWidthInteger>() -> Integer? {
            let count = Integer.bitWidth / 8
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count).reduce(0) { $0 << 8 | Integer(truncatingIfNeeded: $1) }
        }
        guard let id = UUID(uuidString: String(decoding: id, as: UTF8.self)),
            let byteCount: UInt64 = integer(), let responseDate: Int = integer(),
            let variantByteCount: UInt16 = integer()
        else { return nil }
        let variant = rest.prefix(Int(variantByteCount))
        rest = rest.dropFirst(Int(variantByteCount))
        guard let statusCode: UInt16 = integer(), let requestDate: Int = integer(), let firstByte: UInt64 = integer(),
            let totalByteCount: Int = integer(), let headers = HTTPFields(stored: rest)
        else { return nil }
        return CacheEntry(
            id: id,
            key: key,
            variant: String(decoding: variant, as: UTF8.self),
            statusCode: Int(statusCode),
            headers: headers,
            requestDate: Date(milliseconds: requestDate),
            responseDate: Date(milliseconds: responseDate),
            firstByte: Int(clamping: firstByte),
            byteCount: Int(clamping: byteCount),
            totalByteCount: totalByteCount < 0 ? nil : totalByteCount
        )
    }
}

extension Data {
    fileprivate mutating func append(_ integer: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: integer.bigEndian) { append(contentsOf: $0) }
    }
}
#endif
