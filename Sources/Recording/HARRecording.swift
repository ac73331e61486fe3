public import Foundation
import PipelineCore

/// The entries that a transport has loaded from its file, and which of them have been used so far.
///
/// **Secrets**: URLs are redacted.
public struct HARRecording: Sendable, CustomStringConvertible {
    /// An exchange in the file, identified by its method and redacted URL.
    public struct Entry: Sendable, Hashable, CustomStringConvertible {
        /// The position in the file, from 0.
        public let index: Int
        /// The method of the recorded request.
        public let method: String
        /// The URL of the recorded request, redacted.
        public let url: String
        /// When the request was sent; `nil` if the file does not contain the date.
        public let start: Date?

        /// The position, the method and the URL.
        public var description: String { "entry \(index): \(method) \(url)" }
    }

    let fileName: String
    /// All entries, in the order of the file.
    public let entries: [Entry]
    /// The entries that no request has used.
    public let unused: [Entry]
    /// The entries that were replayed although they were too old; see ``RecordingExpiry/Action/warn(_:)``.
    public let expired: [Entry]
    /// The position and the reason of each entry that a ``ReplayTransport`` has skipped because it cannot be read.
    public let unreadable: [String]

    /// Throws an error if any entry is unused.
    ///
    /// - Throws: ``/Pipeline/PipelineError`` with code `recording.unused`, which lists the first 10 such entries.
    public func assertAllUsed() throws {
        guard !unused.isEmpty else { return }
        let listed = unused.prefix(10).map(\.description).joined(separator: "; ")
        let rest = unused.count > 10 ? "; and \(unused.count - 10) more" : ""
        throw PipelineError(
            .recording(.unused),
            "\(unused.count) of \(entries.count) entries of \(fileName.quotedExcerpt) are unused: \(listed)\(rest)"
        )
    }

    /// The file name, the number of entries, and how many are unused.
    public var description: String { "\(fileName): \(entries.count) entries, \(unused.count) unused" }
}
