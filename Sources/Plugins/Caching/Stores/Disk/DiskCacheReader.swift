#if SQLite || canImport(Darwin)
import Foundation
import PipelineFiles

/// A body of a ``DiskCacheStore``, whose file stays open as long as the reader exists.
struct DiskCacheReader: CacheBodyReader {
    let body: CacheDatabase.Body
    let byteCount: Int
    let store: String
    let pool: BlockingPool

    /// The largest piece that a call returns.
    private static let maximumPieceByteCount = 1 << 20

    var bytes: Data? {
        switch body {
        case .bytes(let data): data
        case .file: nil
        }
    }

    func read(at offset: Int, upTo count: Int) async throws -> Data {
        precondition(offset >= 0, "the offset \(offset) is negative")
        precondition(count > 0, "the count \(count) is not positive")
        guard offset < byteCount else { return Data() }
        let count = min(count, byteCount - offset, Self.maximumPieceByteCount)
        switch body {
        case .bytes(let data):
            return data.subdata(in: offset..<offset + count)
        case .file(let file):
            return try await pool.run { [store] () throws(CacheStoreError) in
                let data: Data
                do throws(POSIXError) {
                    data = try file.content(at: offset, upTo: count)
                } catch {
                    throw CacheStoreError(.unavailable, store, error)
                }
                guard !data.isEmpty else { throw CacheStoreError(.corrupt, store, "a body was truncated") }
                return data
            }
        }
    }
}
#endif
