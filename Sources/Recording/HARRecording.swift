public import Foundation
import Pipeline

/// The entries that a transport has loaded from its file, and which of them have been used so far.
///
/// **Secrets**: URLs are redacted.
public struct HARRecording: Sendable, CustomStringConvertible {
    /// One recorded exchange.
    public struct Entry: Sendable, Hashable, CustomStringConvertible {
        /// The position in the file, from 0.
        public let index: Int
        /// The request method.
        public let method: String
        /// The URL, redacted.
        public let url: String
        /// When the request was sent; `nil` if the file does not say.
        public let start: Date?

        /// Position, method and URL.
        public var description: String { "entry \(index): \(method) \(url)" }
    }

    /// The name of the file.
    public let fileName: String
    /// All entries, in the order of the file.
    public let entries: [Entry]
    /// The entries that no request has used.
    public let unused: [Entry]
    /// The entries that were replayed although they were too old; see ``RecordingExpiry/Action/warn(_:)``.
    public let expired: [Entry]
    /// The entries that a ``ReplayTransport`` has skipped because they cannot be read: position and reason of each.
    public let unreadable: [String]

    /// Fails if there is an entry that no request has used.
    ///
    /// - Throws: ``Pipeline/PipelineError`` with code `recording.unused`, which lists the first 10 such entries.
    public func assertAllUsed() throws {
        guard !unused.isEmpty else { return }
        let listed = unused.prefix(10).map(\.description).joined(separator: "; ")
        let rest = unused.count > 10 ? "; and \(unused.count - 10) more" : ""
        throw PipelineError(
            .recording(.unused),
            "\(unused.count) of \(entries.count) entries of \(fileName.quotedExcerpt) are unused: \(listed)\(rest)"
        )
    }

    /// The number of entries, and how many are unused.
    public var description: String { "\(fileName): \(entries.count) entries, \(unused.count) unused" }
}
