import Foundation
import HTTPTypes
import PipelineCore

/// The differences between two recordings, whose entries of the same request are paired in order.
struct RecordingDifference: Sendable {
    /// The differences: the removed and changed entries in the order of the first recording, followed by the added
    /// ones.
    ///
    /// A line begins with `-` for a removed entry, `+` for an added one, and `~` for a changed one. A line for each
    /// part that differs follows the latter.
    let lines: [String]

    /// - Parameters:
    ///   - first: the entries of the first recording.
    ///   - second: the entries of the second recording.
    ///   - ignored: header fields that may differ, such as Date.
    ///   - redactor: decides which values are shown.
    init(
        _ first: [RecordedEntry],
        _ second: [RecordedEntry],
        ignoring ignored: Set<HTTPField.Name> = [],
        redactor: Redactor = .standard
    ) {
        var lines: [String] = []
        var rest = Dictionary(grouping: second, by: Self.key)
        for entry in first {
            let key = Self.key(entry)
            let name = Self.name(of: entry, redactor)
            guard let pair = rest[key]?.first else {
                lines.append("- entry \(entry.index) \(name)")
                continue
            }
            rest[key]?.removeFirst()
            let parts = EntryParts(entry, redactor, ignored).differences(from: EntryParts(pair, redactor, ignored))
            if !parts.isEmpty {
                lines.append("~ entry \(entry.index) and \(pair.index) \(name)")
                lines += parts.map { "    " + $0 }
            }
        }
        let added = rest.values.flatMap { $0 }.sorted { $0.index < $1.index }
        self.lines = lines + added.map { "+ entry \($0.index) \(Self.name(of: $0, redactor))" }
    }

    /// Returns the identity of a request; entries with equal keys are paired.
    private static func key(_ entry: RecordedEntry) -> [String] {
        guard case .success(let exchange) = entry.result else { return [] }
        return [exchange.request.method, exchange.request.url]
    }

    private static func name(of entry: RecordedEntry, _ redactor: Redactor) -> String {
        guard case .success(let exchange) = entry.result else { return "that cannot be read" }
        return RecordingTable.visible(exchange.request.method) + " " + redactor.url(exchange.request.url)
    }
}
