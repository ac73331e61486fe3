import Foundation
import PipelineCore
import PipelineRecording
import Synchronization

/// A page in a file.
final class InspectorFile: InspectorOutput {
    private let url: URL
    private let calls: InspectedCalls
    private let lane = FileLane()
    /// The version of the calls in the file.
    private let writtenVersion = Mutex(0)

    init(_ url: URL, _ calls: InspectedCalls) {
        self.url = url
        self.calls = calls
    }

    func page() async throws -> URL {
        try await lane.complete { [self] in try write() }
        return url
    }

    func end() {
        do {
            try lane.runBlocking { [self] in if writtenVersion.withLock({ $0 }) != calls.version { try write() } }
        } catch {
            Recorder.print(error as? PipelineError ?? PipelineError(.recording(.notWritten), "the page is not written"))
        }
    }

    private func write() throws {
        let version = calls.version
        try HARWriter.makeFolder(of: url)
        let page = InspectorPage.html(calls.document(isLive: false))
        try HARWriter.replace(url) { try $0.append(page) }
        writtenVersion.withLock { $0 = version }
    }
}
