/// A table of text.
package enum TextTable {
    /// Returns lines of equal columns, the first aligned on the left and the others on the right.
    ///
    /// - Parameter rows: the rows, each with a cell for every column.
    /// - Returns: a line for each row, without spaces at its end.
    package static func lines(_ rows: [[String]]) -> [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).enumerated().map { index, cell in
                let padding = String(repeating: " ", count: cell.1 - cell.0.count)
                return index == 0 ? cell.0 + padding : padding + cell.0
            }
            return String(cells.joined(separator: "  ").reversed().drop { $0 == " " }.reversed())
        }
    }
}
