import Foundation
import PipelineCore

extension PluginCheck {
    static let download: @Sendable (PluginBench) async -> [String] = { bench in
        let folder = FileManager.default.temporaryDirectory.appending(path: "conformance-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "file", directoryHint: .notDirectory)
        let destination = DownloadDestination.file(file, options: .createIntermediateDirectories)
        let content = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let chunks = AsyncStream<Data> { continuation in
            continuation.yield(content.prefix(70_000))
            continuation.yield(content.dropFirst(70_000))
            continuation.finish()
        }
        let probe = PluginProbe(task: .downloadDestination(destination))
        switch await bench.outcome(of: probe, .status(200, body: .stream(chunks, byteCount: content.count))) {
        case .value:
            return (try? Data(contentsOf: file)) == content ? [] : ["a download has other bytes than were sent"]
        case .failure(let error): return ["a download failed: \(error)"]
        case .cancelled: return ["a download ended as cancelled, although nothing cancelled it"]
        case .hung: return ["a download did not end"]
        }
    }
}
