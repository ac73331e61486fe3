import Foundation
import Pipeline
import PipelineCaching

/// The transfer of a body through a cache on disk.
enum CacheTransfer {
    static func all(_ files: Files) -> [Transfer] {
        [
            Transfer(name: "cache on disk: stored, two readers, one stops") { byteCount in
                let folder = files.destination.appendingPathExtension("cache")
                defer { try? FileManager.default.removeItem(at: folder) }
                let store = DiskCacheStore(
                    folder,
                    maximumByteCount: 3 * byteCount + (64 << 20),
                    maximumBodyByteCount: byteCount
                )
                let provider = Provider<Large>(
                    transport: Answer(byteCount: byteCount),
                    plugins: [CachePlugin(store: store)]
                )
                guard try await read(provider) == byteCount else { throw Transfer.Failure() }
                // The second reader joins while the first is half way; the first then stops.
                var first = try await provider.stream(target).body.makeAsyncIterator()
                var count = 0
                while count < byteCount / 2, let piece = try await first.next() { count += piece.count }
                let second = try await provider.stream(target)
                guard second.response.source == .cache else { throw Transfer.Failure() }
                var secondCount = 0
                for try await piece in second.body { secondCount += piece.count }
                guard secondCount == byteCount else { throw Transfer.Failure() }
            }
        ]
    }

    private static let target = Large(method: .get, task: .requestPlain)

    /// Returns how many bytes were read.
    private static func read(_ provider: Provider<Large>) async throws -> Int {
        var count = 0
        for try await piece in try await provider.stream(target).body { count += piece.count }
        return count
    }

    private struct Answer: Transport {
        let byteCount: Int
        let decodesContent = false

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            let fields: HTTPFields = [.cacheControl: "max-age=3600", .contentLength: "\(byteCount)"]
            let body = PipelineBody.stream(Zeros(byteCount: byteCount), byteCount: byteCount)
            return PipelineResponse(request: request, head: HTTPResponse(status: .ok, headerFields: fields), body: body)
        }
    }
}
