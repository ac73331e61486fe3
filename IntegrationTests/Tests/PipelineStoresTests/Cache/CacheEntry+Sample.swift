import Foundation
import HTTPTypes
import PipelineCaching

extension CacheKey {
    static let sample = CacheKey(resource: "resource", account: "account")
}

extension CacheEntry {
    static func sample(_ variant: String = "", key: CacheKey = .sample) -> CacheEntry {
        let date = Date(timeIntervalSince1970: 1_700_000_000.123)
        return CacheEntry(
            id: UUID(),
            key: key,
            variant: variant,
            statusCode: 200,
            headers: [.contentType: "text/plain"],
            requestDate: date - 1,
            responseDate: date
        )
    }
}

extension Data {
    /// Bytes that differ from those at other offsets.
    static func sample(_ count: Int) -> Data {
        Data(
            (0..<count).map { (offset: Int) -> UInt8 in
                let high = (offset >> 8) &+ (offset >> 18)
                return UInt8(truncatingIfNeeded: offset &* 7 &+ high)
            }
        )
    }
}

extension CacheStore {
    @discardableResult
    func put(_ entry: CacheEntry = .sample(), _ body: Data = .sample(1_000)) async throws -> CacheEntry {
        let writer = try await write(entry, byteCount: body.count)
        try await writer?.append(body)
        return try await writer?.finish(totalByteCount: body.count) ?? entry
    }

    /// Stores an entry whose lookup was before a removal, and whose body is complete after it; `nil` if it is refused.
    func put(
        _ body: Data,
        during removal: (_ key: CacheKey) async throws -> Void
    ) async throws -> CacheEntry? {
        let generation = try await lookUp(.sample).generation
        let writer = try await write(.sample(), byteCount: body.count)
        try await writer?.append(body)
        try await removal(.sample)
        return try await writer?.finish(totalByteCount: body.count, ifUnchangedSince: generation)
    }

    /// The whole body of an entry; `nil` if it is gone.
    func content(of entry: CacheEntry) async throws -> Data? {
        guard let body = try await body(of: entry) else { return nil }
        var content = Data()
        while case let piece = try await body.read(at: content.count, upTo: 100_000), !piece.isEmpty {
            content += piece
        }
        return content
    }
}
