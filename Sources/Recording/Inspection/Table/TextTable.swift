/// A table of text in columns.
struct TextTable {
    enum Alignment {
        case left
        case right
    }

    private let alignments: [Alignment]
    private var rows: [(cells: [String], styles: [Int: TerminalStyle])] = []

    init(_ alignments: [Alignment]) { self.alignments = alignments }

    /// Adds a row; `styles` contains the columns that are not plain text.
    mutating func append(_ cells: [String], styles: [Int: TerminalStyle] = [:]) { rows.append((cells, styles)) }

    /// The width of each column.
    var widths: [Int] {
        alignments.indices.map { column in rows.map { $0.cells[column].count }.max() ?? 0 }
    }

    /// The lines of the table, one for each row, without trailing blanks.
    var lines: [String] {
        let widths = widths
        return rows.map { row in
            let last = row.cells.lastIndex { !$0.isEmpty } ?? 0
            let cells = row.cells.indices.prefix(last + 1).map { column in
                let padding = String(repeating: " ", count: widths[column] - row.cells[column].count)
                let isLeft = alignments[column] == .left
                let text = row.styles[column]?.applied(to: row.cells[column]) ?? row.cells[column]
                return isLeft ? text + (column == last ? "" : padding) : padding + text
            }
            return cells.joined(separator: "  ")
        }
    }
}
