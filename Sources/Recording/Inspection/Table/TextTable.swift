/// Text in columns.
struct TextTable {
    enum Alignment {
        case left
        case right
    }

    private let alignments: [Alignment]
    private var rows: [[String]] = []

    init(_ alignments: [Alignment]) { self.alignments = alignments }

    mutating func append(_ row: [String]) { rows.append(row) }

    /// The width of each column.
    var widths: [Int] {
        alignments.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
    }

    /// One line a row, without blanks at its end.
    var lines: [String] {
        let widths = widths
        return rows.map { row in
            let cells = row.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - row[column].count)
                return alignments[column] == .left ? row[column] + padding : padding + row[column]
            }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}
