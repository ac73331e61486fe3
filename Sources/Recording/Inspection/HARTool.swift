package import Foundation
package import HTTPTypes
package import PipelineCore

/// The work of the command `har`.
///
/// Each function returns the lines to print, or writes a file.
///
/// All functions throw ``/Pipeline/PipelineError`` with a code of the kind `recording`.
package struct HARTool {
    package let redactor: Redactor
    private let width: Int
    private let isColored: Bool

    /// - Parameters:
    ///   - redactor: decides which values are shown, and which are redacted in files.
    ///   - width: the width of the terminal, in characters.
    ///   - isColored: whether the terminal shows colours.
    package init(redactor: Redactor = .standard, width: Int = 120, isColored: Bool = false) {
        self.redactor = redactor
        self.width = width
        self.isColored = isColored
    }

    /// Returns a summary, the entries as a table and, if `showsTimes` is `true`, a waterfall.
    package func table(of file: URL, showsTimes: Bool) throws -> [String] {
        let entries = RecordedEntry.all(of: try HARFile(contentsOf: file))
        let table = RecordingTable(entries, redactor: redactor)
        let bars = showsTimes ? RecordingWaterfall(entries).lines(width: width) : []
        let summary = [Self.count(entries.count, "entry", "entries"), table.origin].compactMap { $0 }
        var lines = ["\(RecordingTable.visible(file.lastPathComponent)): \(summary.joined(separator: ", "))", ""]
        lines += table.lines(width: width, isColored: isColored)
        if !bars.isEmpty { lines += [""] + bars }
        return lines
    }

    /// Returns one entry in full.
    package func detail(ofEntry index: Int, in file: URL) throws -> [String] {
        let har = try HARFile(contentsOf: file)
        guard (0..<har.count).contains(index) else {
            let count = Self.count(har.count, "entry", "entries")
            throw PipelineError(
                .recording(.corrupt),
                "the file \(file.lastPathComponent.quotedExcerpt) has \(count), numbered from 0; it has no entry \(index)"
            )
        }
        let entry = RecordedEntry(index: index, result: Result { try har.exchange(at: index) })
        return try EntryDetail(entry, redactor: redactor).lines(isColored: isColored)
    }

    /// Returns the problems of a file, or a line that says it is valid.
    package func findings(in file: URL, named name: String) throws -> (lines: [String], isValid: Bool) {
        let findings = RecordingCheck.findings(of: file, RecordingRedaction(redactor))
        let lines = findings.map { "\(name): \($0)" }
        guard findings.allSatisfy({ $0.level == .warning }) else { return (lines, false) }
        let count = try HARFile(contentsOf: file).count
        return (lines + ["\(name): valid, \(Self.count(count, "entry", "entries"))"], true)
    }

    /// Writes a redacted copy of a file and returns the line to print, and warnings.
    package func redact(_ file: URL, to output: URL) throws -> (result: String, warnings: [String]) {
        let recording = RedactedRecording(try HARFile(contentsOf: file), RecordingRedaction(redactor))
        let (count, warnings) = try recording.write(to: output)
        return (Self.count(count, "entry", "entries") + " changed", warnings)
    }

    /// Writes the entries of several files to one and returns the line to print.
    package func merge(_ files: [URL], to output: URL) throws -> String {
        let count = try RecordingMerge.write(files.map { try HARFile(contentsOf: $0) }, to: output)
        return Self.count(count, "entry", "entries")
    }

    /// Returns the differences between two files; empty if there are none.
    package func differences(
        between first: URL,
        and second: URL,
        ignoring names: Set<HTTPField.Name>
    ) throws -> [String] {
        let entries = try [first, second].map { RecordedEntry.all(of: try HARFile(contentsOf: $0)) }
        return RecordingDifference(entries[0], entries[1], ignoring: names, redactor: redactor).lines
    }

    package static func count(_ number: Int, _ one: String, _ many: String) -> String {
        "\(number) \(number == 1 ? one : many)"
    }
}
