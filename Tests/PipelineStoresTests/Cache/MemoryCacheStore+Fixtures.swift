import Foundation
import HTTPTypes
import PipelineCaching
import Testing

extension CacheEntry {
    /// Returns a new entry for the resource `name` of an account.
    static func named(_ name: String, account: String = "a", variant: String = "", headers: HTTPFields = [:]) -> Self {
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        return CacheEntry(
            id: UUID(),
            key: CacheKey(resource: name, account: account),
            variant: variant,
            statusCode: 200,
            headers: headers,
            requestDate: date,
            responseDate: date
        )
    }
}

extension MemoryCacheStore {
    /// Stores a body of zeros in one chunk; returns `nil` if the store has no room.
    @discardableResult
    func put(_ entry: CacheEntry, _ byteCount: Int = 0) async throws -> CacheEntry? {
        try await put(entry, Data(count: byteCount))
    }

    /// Stores a body in one chunk; returns `nil` if the store has no room.
    @discardableResult
    func put(_ entry: CacheEntry, _ body: Data) async throws -> CacheEntry? {
        guard let writer = await write(entry, byteCount: body.count) else { return nil }
        try await writer.append(body)
        return try await writer.finish(totalByteCount: body.count)
    }

    /// Returns which of some resources of the account `a` are stored.
    func stored(among names: some Sequence<String>) async -> [String] {
        var found: [String] = []
        for name in names where await !lookUp(CacheEntry.named(name).key).entries.isEmpty { found.append(name) }
        return found
    }
}

/// Expects an error with a code.
func expect(
    code: CacheStoreError.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: () async throws -> Void
) async {
    let error = await #expect(throws: CacheStoreError.self, sourceLocation: sourceLocation) { try await body() }
    #expect(error?.code == code, sourceLocation: sourceLocation)
}
