import Foundation

extension PipelineBenchmark.Report {
    private static let barHeight = 18
    private static let step = 26
    private static let top = 62
    private static let plotWidth = 420

    /// The ratios as a bar chart in SVG.
    ///
    /// Its title and description name the cases and their ratios, for readers who do not see it.
    public var svg: String {
        let left = 30 + 7 * min(60, cases.map(\.name.count).max() ?? 0)
        let width = left + Self.plotWidth + 90
        let height = Self.top + Self.step * cases.count + 18
        let largest = max(1, cases.map(\.ratio).max() ?? 1)
        func place(_ ratio: Double) -> Double { Double(left) + ratio / largest * Double(Self.plotWidth) }
        let spoken = cases.map { "\($0.name): \(Self.text($0.ratio))" }.joined(separator: "; ")
        var lines = [
            """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(height)" viewBox="0 0 \(width) \(height)" \
            font-family="system-ui, Helvetica, Arial, sans-serif" font-size="12" role="img" aria-labelledby="title text">
            """,
            "<title id=\"title\">\(Self.escaped(name))</title>",
            "<desc id=\"text\">Time compared with \(Self.escaped(cases.first?.name ?? "")). \(Self.escaped(spoken))</desc>",
            "<rect width=\"\(width)\" height=\"\(height)\" fill=\"#FFFFFF\"/>",
            "<text x=\"16\" y=\"26\" font-size=\"16\" font-weight=\"bold\" fill=\"#222222\">\(Self.escaped(name))</text>",
            "<text x=\"16\" y=\"46\" fill=\"#666666\">time, 1 = \(Self.escaped(cases.first?.name ?? ""))</text>",
        ]
        for (index, item) in cases.enumerated() {
            let y = Self.top + index * Self.step
            let middle = y + Self.barHeight / 2 + 4
            let end = place(item.ratio)
            let label = "x=\"\(left - 10)\" y=\"\(middle)\" text-anchor=\"end\" fill=\"#222222\""
            lines.append("<text \(label)>\(Self.escaped(item.name))</text>")
            let bar = "x=\"\(left)\" y=\"\(y)\" width=\"\(Self.text(end - Double(left)))\" height=\"\(Self.barHeight)\""
            lines.append("<rect \(bar) fill=\"\(index == 0 ? "#666666" : "#0072B2")\"/>")
            let value = "x=\"\(Self.text(end + 6))\" y=\"\(middle)\" fill=\"#222222\""
            lines.append("<text \(value)>\(Self.text(item.ratio))</text>")
        }
        let one = Self.text(place(1))
        let bottom = Self.top + Self.step * cases.count
        lines.append("<line x1=\"\(one)\" y1=\"\(Self.top - 4)\" x2=\"\(one)\" y2=\"\(bottom)\" stroke=\"#666666\"/>")
        return (lines + ["</svg>", ""]).joined(separator: "\n")
    }

    private static func text(_ number: Double) -> String { String(format: "%.2f", number) }

    /// Returns a text without the characters that XML reserves or forbids.
    private static func escaped(_ text: String) -> String {
        let replacements: [Character: String] = ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"]
        return text.map { character in
            if let replacement = replacements[character] { return replacement }
            return character.unicodeScalars.contains { $0.value < 0x20 } ? " " : String(character)
        }.joined()
    }
}
