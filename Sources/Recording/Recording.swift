public import Foundation
import Pipeline

/// What a transport has loaded from its file, and what of it has been used so far.
///
/// **Secrets**: URLs have gone through the redaction.
public struct Recording: Sendable, CustomStringConvertible {
    /// One recorded exchange.
    public struct Entry: Sendable, Hashable, CustomStringConvertible {
        /// Its place in the file, from 0.
        public let index: Int
        /// The method.
        public let method: String
        /// The URL, redacted.
        public let url: String
        /// When the request was sent.
        public let start: Date?

        /// Place, method and URL.
        public var description: String { "entry \(index): \(method) \(url)" }
    }

    /// The name of the file.
    public let fileName: String
    /// All entries, in the order of the file.
    public let entries: [Entry]
    /// Those that no request has used.
    public let unused: [Entry]
    /// Those that were used although they were older than they may be.
    public let expired: [Entry]
    /// What a ``ReplayTransport`` has left out because it could not be read: place and reason of each.
    public let unreadable: [String]

    /// Fails when an entry is left that no request has used.
    ///
    /// - Throws: ``Pipeline/PipelineError`` with code `recording.unused`, which lists the first 10.
    public func assertAllUsed() throws {
        guard !unused.isEmpty else { return }
        let listed = unused.prefix(10).map(\.description).joined(separator: "; ")
        let rest = unused.count > 10 ? "; and \(unused.count - 10) more" : ""
        throw PipelineError(
            .recording(.unused),
            "\(unused.count) of \(entries.count) entries of \(fileName.quotedExcerpt) are unused: \(listed)\(rest)"
        )
    }

    /// How many entries there are and how many are unused.
    public var description: String { "\(fileName): \(entries.count) entries, \(unused.count) unused" }
}
