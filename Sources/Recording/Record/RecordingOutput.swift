import Foundation
import PipelineCore
import Synchronization

/// An output that writes the collected data of a recorder once.
///
/// It blocks, and must be used in the journal's lane.
final class RecordingOutput: Sendable {
    private let file: URL
    private let base: HARFile
    private let isChanged: Bool
    private let isKnown: @Sendable (RecordedExchange.Request) -> Bool
    private let journal: HARJournal
    private let redaction: RecordingRedaction
    private let warn: @Sendable (String) -> Void
    private let isWritten = Atomic(false)

    /// - Parameters:
    ///   - base: the file to which the new entries are added.
    ///   - journal: discarded after the entries have been written.
    ///   - file: the file to write.
    ///   - redaction: redacts the entries.
    ///   - isChanged: whether the base has more entries than the file, and must be written in any case.
    ///   - isKnown: whether the base contains a request, in its stored form.
    ///   - warn: called with each warning about the written file.
    init(
        _ base: HARFile,
        _ journal: HARJournal,
        for file: URL,
        _ redaction: RecordingRedaction,
        isChanged: Bool,
        isKnown: @escaping @Sendable (RecordedExchange.Request) -> Bool,
        warn: @escaping @Sendable (String) -> Void
    ) {
        self.warn = warn
        self.base = base
        self.journal = journal
        self.file = file
        self.redaction = redaction
        self.isChanged = isChanged
        self.isKnown = isKnown
    }

    /// The seed of the file; `nil` for a new file.
    var randomSeed: UInt64? { base.url == nil ? nil : base.randomSeed ?? 0 }

    /// Writes the file, unless it has been written or nothing is new.
    ///
    /// - Returns: whether the file was written.
    func write(_ recorded: Recorded) throws -> Bool {
        guard !isWritten.load(ordering: .acquiring) else { return false }
        let (replacements, entries) = try news(of: recorded)
        let hasNews = isChanged || !entries.isEmpty || !replacements.isEmpty
        if hasNews { try write(replacements, entries, recorded.randomSeed) }
        isWritten.store(true, ordering: .releasing)
        try journal.discard()
        if hasNews {
            let findings = try redaction.findings(in: file, recorded.secrets)
            for warning in findings.warnings { warn(warning) }
            if let error = findings.error { throw error }
        }
        if let problem = recorded.problem { throw problem }
        return hasNews
    }

    /// Returns the entries to write, without values that later requests have shown to be secret.
    private func news(of closed: Recorded) throws -> (replacements: [(Int, HAREntry)], entries: [HAREntry]) {
        let redaction = redaction.adding(secretValues: closed.secrets.replaced)
        func checked(_ entry: HAREntry) -> HAREntry {
            redaction.containsSecret(in: entry.json.data()) ? redaction.entry(entry) : entry
        }
        let replacements = closed.replacements.sorted { $0.key < $1.key }.map { ($0.key, checked($0.value)) }
        let entries = try closed.entries.sorted { $0.key < $1.key }.compactMap { ticket, entry -> HAREntry? in
            let entry = checked(entry)
            // Without this check, a request that its own entry does not match would be added in each run.
            guard closed.missing.contains(ticket), isKnown(try entry.exchange(sideFiles: nil).request) else {
                return entry
            }
            return nil
        }
        return (replacements, entries)
    }

    private func write(_ replacements: [(Int, HAREntry)], _ entries: [HAREntry], _ seed: UInt64?) throws {
        // The folder may have been removed since the recording began.
        try HARWriter.makeFolder(of: file)
        var har = base
        if randomSeed == nil { har.randomSeed = seed }
        let sideFiles = HARSideFiles(for: file)
        for (index, entry) in replacements { har.replace(at: index, with: try sideFiles.moveBodies(of: entry)) }
        for entry in entries { har.append(try sideFiles.moveBodies(of: entry)) }
        try har.write(to: file)
    }
}
