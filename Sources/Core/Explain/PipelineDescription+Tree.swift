extension PipelineDescription {
    /// A line of the tree.
    private struct Row {
        let label: String
        let text: String
        /// Whether the rows that follow are nested in this one.
        let isWrapper: Bool
    }

    /// The stack as a tree, followed by its findings and hints, and the page that lists them by identifier.
    public var description: String {
        let call = entries.compactMap { row($0, [.prepare, .intercept, .process, .didFinish], wrapper: .intercept) }
        let hop = entries.compactMap { row($0, [.exchange], wrapper: .exchange) }
        var wire = entries.compactMap { row($0, [.willSend, .didReceive], wrapper: nil) }
        let coding = transportDecodesContent ? "bodies arrive decoded" : "bodies arrive as on the wire"
        wire.append(Row(label: transport, text: coding, isWrapper: false))
        let levels = [
            ("call", Self.tree(call)), ("hop (each attempt and redirect)", Self.tree(hop)),
            ("wire (each exchange)", Self.tree(wire)),
        ]
        let width = levels.flatMap(\.1).map(\.label.count).max() ?? 0
        var lines: [String] = []
        for (title, rows) in levels where !rows.isEmpty {
            lines.append(title)
            for row in rows {
                let padding = String(repeating: " ", count: width - row.label.count)
                lines.append("\(row.label)\(padding)  \(row.text)")
            }
        }
        let all = findings + hints
        let counts = [OrderRule.Severity.leak, .fault, .hint].compactMap { severity in
            let count = all.count { $0.severity == severity }
            return count == 0 ? nil : "\(count) \(severity)" + (count == 1 ? "" : "s")
        }
        lines.append("findings: " + (counts.isEmpty ? "none" : counts.joined(separator: ", ")))
        lines += all.map { $0.lines.joined(separator: "\n  ") }
        if !all.isEmpty { lines.append(Finding.page) }
        return lines.joined(separator: "\n")
    }

    /// Returns the row of a plugin in a level; `nil` if none of its stages in that level ever runs.
    private func row(_ entry: Entry, _ level: Set<Stage.Kind>, wrapper: Stage.Kind?) -> Row? {
        let runs = entry.stages.filter { level.contains($0.stage) && $0.options?.isEmpty != true }
        guard !runs.isEmpty else { return nil }
        let isInsideWrapper = interceptsBefore(entry)
        let stages = runs.map { run in
            if run.stage == .didFinish, isInsideWrapper { return "\(run.stage) \(run.frequency)" }
            guard let options = run.options else { return "\(run.stage)" }
            return "\(run.stage) if \(options.map(\.name).sorted().joined(separator: " or "))"
        }
        return Row(
            label: "\(entry.position) \(entry.name)",
            text: stages.joined(separator: ", "),
            isWrapper: runs.contains { $0.stage == wrapper }
        )
    }

    private func interceptsBefore(_ entry: Entry) -> Bool {
        entries.prefix { $0.position < entry.position }.contains { $0.stages.contains { $0.stage == .intercept } }
    }

    /// Returns the rows with the branches of the tree in their labels.
    private static func tree(_ rows: [Row]) -> [Row] {
        var depth = 0
        return rows.enumerated().map { index, row in
            let isLast = row.isWrapper || index == rows.count - 1
            let margin = String(repeating: "   ", count: depth)
            if row.isWrapper { depth += 1 }
            return Row(label: margin + (isLast ? "└─ " : "├─ ") + row.label, text: row.text, isWrapper: row.isWrapper)
        }
    }
}
