import Foundation
import HTTPTypes
import PipelineCaching
import PipelineTesting

extension CacheStoreConformance {
    static let key = CacheKey(resource: "resource", account: "account")
    static let date = Date(timeIntervalSince1970: 1_700_000_000.123)

    /// Returns a new entry; its response date is `age` seconds before ``date``.
    static func entry(_ key: CacheKey = key, _ variant: String = "", age: Double = 0) -> CacheEntry {
        CacheEntry(
            id: UUID(),
            key: key,
            variant: variant,
            statusCode: 200,
            headers: [.contentType: "text/plain"],
            requestDate: date - age - 1,
            responseDate: date - age
        )
    }

    /// Returns the bytes that the body of an entry must have, which no other entry and no other offset has.
    static func bytes(of entry: CacheEntry, _ count: Int) -> Data {
        let seed = withUnsafeBytes(of: entry.id.uuid) {
            $0.loadUnaligned(as: UInt64.self) ^ $0.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
        }
        let words = (0..<(count + 7) / 8).map { seed &+ UInt64($0) &* 0x9E37_79B9_7F4A_7C15 }
        return words.withUnsafeBytes { Data($0.prefix(count)) }
    }

    /// Stores an entry in pieces of at most `piece` bytes.
    @discardableResult
    static func put(
        _ entry: CacheEntry,
        _ count: Int = 10,
        in store: any CacheStore,
        piece: Int = 4_000
    ) async throws -> CacheEntry {
        guard let writer = try await store.write(entry, byteCount: count) else { throw Violation.noRoom }
        let body = bytes(of: entry, count)
        for start in stride(from: 0, to: count, by: piece) {
            try await writer.append(body[start..<min(start + piece, count)])
        }
        let finished = try await writer.finish(totalByteCount: count)
        guard finished.byteCount == count, finished.totalByteCount == count else {
            throw Violation(description: "an entry of \(count) bytes has \(finished.byteCount) bytes after finish")
        }
        return finished
    }

    struct Violation: Error, CustomStringConvertible {
        static let noRoom = Violation(description: "a new store returns no writer")
        let description: String
    }

    /// Reads the body of an entry in pieces; `nil` if it has none, or if the body is longer than `count`.
    static func read(
        _ body: (any CacheBodyReader)?,
        _ count: Int,
        piece: Int = 3_001
    ) async throws -> Data? {
        guard let body else { return nil }
        if let bytes = body.bytes, bytes.count != count { return nil }
        var found = Data()
        while found.count <= count {
            let next = try await body.read(at: found.count, upTo: piece)
            if next.isEmpty { return body.bytes == nil || body.bytes == found ? found : nil }
            guard next.count <= piece else { return nil }
            found += next
        }
        return nil
    }

    /// Returns a violation unless exactly these entries are visible for a key, each with its body.
    static func require(
        _ expected: [CacheEntry],
        in store: any CacheStore,
        for key: CacheKey = key,
        _ when: String
    ) async throws -> [String] {
        let found = try await store.entries(for: key)
        guard found.map(\.id) == expected.map(\.id) else {
            return ["\(when), a key has the variants \(found.map(\.variant)), not \(expected.map(\.variant))"]
        }
        for (entry, count) in zip(found, expected.map(\.byteCount)) {
            guard try await read(store.body(of: entry), count) == bytes(of: entry, count) else {
                return ["\(when), the variant \"\(entry.variant)\" has a wrong body"]
            }
        }
        return []
    }
}
