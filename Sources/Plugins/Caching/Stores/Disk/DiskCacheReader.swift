#if SQLite || canImport(Darwin)
import Foundation
import PipelineFiles

/// A body in a file of a ``DiskCacheStore``, which stays open as long as the reader exists.
struct DiskCacheReader: CacheBodyReader {
    let file: OpenFile
    let byteCount: Int
    let store: String
    let pool: BlockingPool

    /// The largest piece that a call returns.
    private static let maximumPieceByteCount = 1 << 20

    var bytes: Data? { nil }

    func read(at offset: Int, upTo count: Int) async throws -> Data {
        precondition(offset >= 0 && count > 0, "offset \(offset) is negative, or count \(count) is not positive")
        guard offset < byteCount else { return Data() }
        let count = min(count, byteCount - offset, Self.maximumPieceByteCount)
        return try await pool.run { [file, store] () throws(CacheStoreError) in
            do throws(POSIXError) {
                let data = try file.content(at: offset, upTo: count)
                if !data.isEmpty { return data }
            } catch {
                throw CacheStoreError(.unavailable, store, error)
            }
            throw CacheStoreError(.corrupt, store, "a body was truncated")
        }
    }
}
#endif
