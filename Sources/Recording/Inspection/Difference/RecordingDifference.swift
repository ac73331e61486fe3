import Foundation
import HTTPTypes
import PipelineCore

/// The differences between two recordings, whose entries of the same request are paired in order.
struct RecordingDifference: Sendable {
    /// A difference between two recordings.
    enum Change: Sendable, Equatable {
        /// An entry that only the second recording has, with its index there.
        case added(Int, String)
        /// An entry that only the first recording has, with its index there.
        case removed(Int, String)
        /// An entry that both recordings have, with both indices and the parts that differ.
        case changed(Int, Int, String, [Part])
    }

    /// A part of an entry that differs.
    struct Part: Sendable, Equatable {
        var name: String
        var first: String
        var second: String
    }

    /// The identity of a request; entries with equal keys are paired.
    private struct Key: Hashable {
        let method: String
        let url: String
    }

    /// The removed and changed entries in the order of the first recording, followed by the added ones.
    let changes: [Change]

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
        var changes: [Change] = []
        var rest = Dictionary(grouping: second, by: Self.key)
        for entry in first {
            let key = Self.key(entry)
            guard let pair = rest[key]?.first else {
                changes.append(.removed(entry.index, Self.name(of: entry, redactor)))
                continue
            }
            rest[key]?.removeFirst()
            let parts = EntryParts(entry, redactor, ignored).differences(from: EntryParts(pair, redactor, ignored))
            if !parts.isEmpty {
                changes.append(.changed(entry.index, pair.index, Self.name(of: entry, redactor), parts))
            }
        }
        let added = rest.values.flatMap { $0 }.sorted { $0.index < $1.index }
        self.changes = changes + added.map { .added($0.index, Self.name(of: $0, redactor)) }
    }

    /// The differences as lines: `-` removed, `+` added, `~` changed with a line for each part.
    var lines: [String] {
        changes.flatMap { change -> [String] in
            switch change {
            case .added(let index, let name): ["+ entry \(index) \(name)"]
            case .removed(let index, let name): ["- entry \(index) \(name)"]
            case .changed(let first, let second, let name, let parts):
                ["~ entry \(first) and \(second) \(name)"]
                    + parts.map { "    \($0.name): \($0.first) → \($0.second)" }
            }
        }
    }

    private static func key(_ entry: RecordedEntry) -> Key {
        guard case .success(let exchange) = entry.result else { return Key(method: "", url: "") }
        return Key(method: exchange.request.method, url: exchange.request.url)
    }

    private static func name(of entry: RecordedEntry, _ redactor: Redactor) -> String {
        guard case .success(let exchange) = entry.result else { return "that cannot be read" }
        return RecordingTable.visible(exchange.request.method) + " " + redactor.url(exchange.request.url)
    }
}
