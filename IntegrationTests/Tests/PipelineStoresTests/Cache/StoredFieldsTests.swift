import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("Header fields of stored entries", .watched)
struct StoredFieldsTests {
    // The type of header fields stops the process beyond 65,535.
    @Test(
        "G09 An entry with more than 10,000 fields is damaged, on disk and in Redis",
        arguments: [0, 1, 1_001, 10_000, 10_001, 70_000]
    )
    func count(_ count: Int) throws {
        let field: HTTPFields = [.vary: "value"]
        let row = Data(repeatElement(field.stored, count: count).joined())
        #expect(HTTPFields(stored: row)?.count == (count > 10_000 ? nil : count))

        var entry = CacheEntry.sample("r")
        entry.headers = [:]
        let token = String(repeating: "t", count: RedisEntry.tokenByteCount)
        let empty = try #require(RedisEntry.encode(entry, token: token))
        entry.headers = field
        let one = try #require(RedisEntry.encode(entry, token: token))
        let value =
            Data(count: RedisEntry.generationByteCount) + empty
            + Data(repeatElement(one.dropFirst(empty.count), count: count).joined())
        let decoded = RedisEntry.decode(value, id: Data(entry.id.uuidString.utf8), key: entry.key)
        #expect(decoded?.headers.count == (count > 10_000 ? nil : count))
    }

    @Test("Fields of a row that ends early, or with a name that is not a token, are damaged")
    func damaged() {
        let row = HTTPFields([HTTPField(name: .vary, value: "value")]).stored
        for length in 1..<row.count { #expect(HTTPFields(stored: row.prefix(length)) == nil) }
        var other = row
        other[4] = UInt8(ascii: " ")
        #expect(HTTPFields(stored: other) == nil)
    }
}
