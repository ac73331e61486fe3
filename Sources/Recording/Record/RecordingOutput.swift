import Foundation
import PipelineCore

/// The data that a recorder has collected.
struct Recorded: Sendable {
    /// The entries, keyed by the order in which their requests began.
    var entries: [Int: HAREntry] = [:]
    /// The keys of new entries whose requests match no old entry.
    var missing: Set<Int> = []
    /// The new entries that replace old ones, by index.
    var replacements: [Int: HAREntry] = [:]
    /// The values of secret fields of requests and of cookies of responses.
    var secrets = RecordedSecrets()
    /// The seed of the random numbers of the session; `nil` if no provider used them.
    var randomSeed: UInt64?
    /// The reason why an exchange is missing.
    var problem: PipelineError?
}

/// An output that writes the collected data of a recorder once.
///
/// It blocks, and must be used in the journal's lane.
struct RecordingOutput: Sendable {
    /// The file to write.
    let file: URL
    /// The file to which the new entries are added.
    var base = HARFile()
    /// Keeps the entries until the file is written, and is then discarded.
    let journal: HARJournal
    let redaction: RecordingRedaction
    /// Whether the base has more entries than the file, and must be written in any case.
    var isChanged = false
    /// Whether the base contains a request, in its stored form.
    var isKnown: @Sendable (RecordedExchange.Request) -> Bool = { _ in false }
    /// Called with each warning about the written file.
    var warn: @Sendable (String) -> Void = { Recorder.print("warning: recording.secret: \($0)") }

    /// The seed of the file; `nil` for a new file.
    var randomSeed: UInt64? { base.url == nil ? nil : base.randomSeed ?? 0 }

    /// Writes the file, unless it has been written or nothing is new.
    ///
    /// - Returns: whether the file was written.
    func write(_ recorded: Recorded) throws -> Bool {
        guard !journal.isDiscarded else { return false }
        let (replacements, entries) = try news(of: recorded)
        let hasNews = isChanged || !entries.isEmpty || !replacements.isEmpty
        if hasNews { try write(replacements, entries, recorded.randomSeed) }
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
