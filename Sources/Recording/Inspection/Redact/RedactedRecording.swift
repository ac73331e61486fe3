import Foundation
import PipelineCore

/// A recording without its secrets, as a recorder would have written it.
struct RedactedRecording {
    private let file: HARFile
    private let redaction: RecordingRedaction
    private let secrets: RecordedSecrets

    /// - Parameters:
    ///   - file: the recording.
    ///   - redaction: the rules. Values of 16 bytes or more in secret header fields, secret query items and cookies of
    ///     the entries are also replaced everywhere else.
    init(_ file: HARFile, _ redaction: RecordingRedaction) {
        self.file = file
        var secrets = RecordedSecrets()
        for index in 0..<file.count {
            guard let exchange = try? file.exchange(at: index) else { continue }
            secrets.formUnion(redaction.secrets(of: exchange))
        }
        self.secrets = secrets
        self.redaction = redaction.adding(secretValues: secrets.replaced)
    }

    /// Writes the redacted recording.
    ///
    /// Entries without secrets are copied byte by byte.
    ///
    /// If the output replaces the recording, side files written by this package that are no longer referenced are
    /// removed. Files with other names are never removed.
    ///
    /// - Returns: the number of entries that were changed, and warnings about values that may be secret.
    /// - Throws: `.recording(.secret)` if the output still contains a secret value, including one that is too short to
    ///   be replaced; `.recording(.corrupt)` and `.recording(.notWritten)`.
    func write(to output: URL) throws -> (changeCount: Int, warnings: [String]) {
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
        let findings = try redaction.findings(in: output, secrets)
        if let error = findings.error { throw error }
        return (changeCount, findings.warnings)
    }
}
