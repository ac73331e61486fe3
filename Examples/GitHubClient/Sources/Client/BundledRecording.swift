import Foundation
import Pipeline
import PipelineRecording

extension ReplayTransport {
    /// Returns a transport that replays the recording in this executable.
    static func bundled() throws -> ReplayTransport {
        let file = FileManager.default.temporaryDirectory.appending(path: "github-\(UUID().uuidString).har")
        try Data(PackageResources.github_har).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        return try ReplayTransport(file, atEnd: .repeatLast)
    }
}

extension HARRecording {
    /// The server of the first entry, to which a replay sends its requests; `nil` if there are no entries.
    var server: String? { entries.first.flatMap { try? PipelineRequest(url: $0.url).origin.description } }
}
