package import Foundation
import HTTPTypes
import Pipeline
package import PipelineTransports

/// A recording without its secrets, as a recorder would have written it.
package struct RedactedRecording {
    private let file: HARFile
    private let redaction: RecordingRedaction

    /// - Parameters:
    ///   - file: the recording.
    ///   - redaction: the rules; what secret header fields and cookies of the entries hold is hidden wherever it stands, too.
    package init(_ file: HARFile, _ redaction: RecordingRedaction) {
        self.file = file
        var secrets: Set<String> = []
        for index in 0..<file.count {
            guard let exchange = try? file.exchange(at: index) else { continue }
            let url = exchange.request.url
            let query = url.utf8.firstIndex(of: UInt8(ascii: "?")).map { String(url[$0...]) }
            let head = HTTPRequest(
                method: .get,
                scheme: nil,
                authority: nil,
                path: "/" + (query ?? ""),
                headerFields: exchange.request.headers
            )
            secrets.formUnion(
                redaction.values(of: PipelineRequest(head: head), answer: exchange.response?.headers ?? [:])
            )
        }
        self.redaction = redaction.adding(secretValues: secrets)
    }

    /// Writes it; entries in which nothing is secret stay as they are, byte by byte.
    ///
    /// In its old place, side files of ours that no entry names any more are removed; files of other names never are.
    ///
    /// - Returns: how many entries have been changed.
    /// - Throws: `.recording(.secret)` when a secret value is still found in what was written; `.recording(.corrupt)` and
    ///   `.recording(.notWritten)`.
    package func write(to output: URL) throws -> Int {
        let source = file.url?.resolvingSymlinksInPath()
        let folder = source?.deletingLastPathComponent()
        let isMoved = output.resolvingSymlinksInPath().deletingLastPathComponent().path != folder?.path
        let sideFiles = HARSideFiles(for: output)
        var result = file
        var before: Set<String> = []
        var after: Set<String> = []
        var changeCount = 0
        for index in 0..<file.count {
            let entry = try file.entry(at: index)
            let whole = try entry.withoutSideFiles(in: folder)
            let redacted = redaction.entry(whole)
            let isChanged = redacted != whole
            changeCount += isChanged ? 1 : 0
            before.formUnion(entry.sideFiles)
            guard isChanged || isMoved && !entry.sideFiles.isEmpty else {
                after.formUnion(entry.sideFiles)
                continue
            }
            let stored = entry.sideFiles.isEmpty ? redacted : try sideFiles.moveBodies(of: redacted)
            after.formUnion(stored.sideFiles)
            result.replace(at: index, with: stored)
        }
        result.replaceLog(with: redaction.log(file.log))
        try result.write(to: output)
        if !isMoved, output.resolvingSymlinksInPath().path == source?.path {
            for name in before.subtracting(after) where HARSideFiles.isOwn(name, of: output) {
                try? folder.map { try FileManager.default.removeItem(at: $0.appending(path: name)) }
            }
        }
        guard !redaction.containsSecret(in: try Data(contentsOf: output, options: .mappedIfSafe)) else {
            throw PipelineError(.recording(.secret), "a secret value still stands in \(output.lastPathComponent)")
        }
        return changeCount
    }
}
