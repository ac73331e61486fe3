import Foundation

struct Point: Sendable {
    let x: Double
    let y: Double
}

/// A small line chart as an SVG file, readable on light and dark pages.
struct Chart {
    struct Line {
        let label: String
        let points: [Point]
        /// The color: 0 for the stack, 1 for nothing in its place, 2 and 3 for further lines.
        let color: Int
    }

    /// The name of the file, without its ending.
    let name: String
    let title: String
    let xTitle: String
    let yTitle: String
    let lines: [Line]
    /// Lines across the whole chart, such as a limit; the label may be empty.
    var marks: [(label: String, value: Double)] = []
    /// The highest value shown, where lines are cut off; `nil` if all values are shown.
    var ceiling: Double?
    /// Where the horizontal axis begins.
    var xLow = 0.0

    private static let (left, top, width, height) = (52.0, 62.0, 380.0, 170.0)
    private static let (right, bottom) = (150.0, 46.0)
    private static let style = """
        <style>
        .b{fill:#fff}.t{fill:#222}.g{fill:#666}.r{stroke:#e3e3e3}.a{stroke:#666}
        .c0{stroke:#0072b2}.c1{stroke:#d55e00}.c2{stroke:#009e73}.c3{stroke:#b0578d}
        .f0{fill:#0072b2}.f1{fill:#d55e00}.f2{fill:#009e73}.f3{fill:#b0578d}
        @media(prefers-color-scheme:dark){
        .b{fill:#0d1117}.t{fill:#e6edf3}.g{fill:#9198a1}.r{stroke:#2a313a}.a{stroke:#9198a1}
        .c0{stroke:#56b4e9}.c1{stroke:#ff9e4a}.c2{stroke:#3fcf9f}.c3{stroke:#e08fc0}
        .f0{fill:#56b4e9}.f1{fill:#ff9e4a}.f2{fill:#3fcf9f}.f3{fill:#e08fc0}}
        </style>
        """

    private var xHigh: Double { lines.flatMap(\.points).map(\.x).max() ?? 1 }

    private var yHigh: Double {
        ceiling ?? max(lines.flatMap(\.points).map(\.y).max() ?? 1, marks.map(\.value).max() ?? 0)
    }

    /// The chart.
    var svg: String {
        let width = Self.left + Self.width + Self.right
        let height = Self.top + Self.height + Self.bottom
        let size = "width=\"\(Int(width))\" height=\"\(Int(height))\" viewBox=\"0 0 \(Int(width)) \(Int(height))\""
        let yMarks = Self.marks(to: yHigh)
        let yTop = yMarks.last ?? 1
        var parts = [
            "<svg xmlns=\"http://www.w3.org/2000/svg\" \(size) role=\"img\" aria-label=\"\(Self.escaped(title))\" "
                + "font-family=\"system-ui, Helvetica, Arial, sans-serif\" font-size=\"11\">",
            Self.style,
            "<rect class=\"b\" width=\"\(Int(width))\" height=\"\(Int(height))\"/>",
            Self.text(16, 24, title, "t", extra: " font-size=\"14\" font-weight=\"bold\""),
            Self.text(16, 44, yTitle, "g"),
        ]
        for mark in yMarks {
            let y = place(y: mark, yTop)
            parts.append(Self.line(Self.left, y, Self.left + Self.width, y, "r"))
            parts.append(Self.text(Self.left - 8, y + 4, Self.number(mark), "g", anchor: "end"))
        }
        let base = Self.top + Self.height
        parts.append(Self.line(Self.left, base, Self.left + Self.width, base, "a"))
        for mark in Self.marks(to: xHigh - xLow).map({ $0 + xLow }) where mark <= xHigh * 1.001 {
            parts.append(Self.text(place(x: mark), base + 16, Self.number(mark), "g", anchor: "middle"))
        }
        parts.append(Self.text(Self.left + Self.width / 2, base + 34, xTitle, "g", anchor: "middle"))
        parts += drawings(yTop)
        return (parts + ["</svg>", ""]).joined(separator: "\n")
    }

    /// The lines with their labels, which keep a distance from each other.
    private func drawings(_ yTop: Double) -> [String] {
        var parts: [String] = []
        var labels: [(y: Double, text: String, style: String)] = []
        for mark in marks {
            let y = place(y: mark.value, yTop)
            let line = Self.line(Self.left, y, Self.left + Self.width, y, "a")
            parts.append(line.replacing("/>", with: " stroke-dasharray=\"4 3\"/>"))
            if !mark.label.isEmpty { labels.append((y, mark.label, "g")) }
        }
        for line in lines {
            let points = line.points.map { "\(Self.place(place(x: $0.x))),\(Self.place(place(y: $0.y, yTop)))" }
            let path = points.joined(separator: " ")
            parts.append("<polyline class=\"c\(line.color)\" points=\"\(path)\" fill=\"none\" stroke-width=\"1.6\"/>")
            labels.append((place(y: line.points.last?.y ?? 0, yTop), line.label, "f\(line.color)"))
        }
        labels.sort { $0.y < $1.y }
        var last = -Double.infinity
        for label in labels {
            last = max(label.y, last + 14)
            parts.append(Self.text(Self.left + Self.width + 8, last + 4, label.text, label.style))
        }
        return parts
    }

    private func place(x: Double) -> Double {
        Self.left + (x - xLow) / (xHigh - xLow) * Self.width
    }

    private func place(y: Double, _ top: Double) -> Double {
        Self.top + Self.height * (1 - min(max(y / top, 0), 1))
    }

    /// Returns about five round numbers from zero to at least a value.
    private static func marks(to high: Double) -> [Double] {
        let raw = max(high, 1e-9) / 4
        let power = pow(10, floor(log10(raw)))
        let step = [1, 2, 2.5, 5, 10].map { $0 * power }.first { $0 >= raw * 0.999 } ?? raw
        return (0...Int((high / step - 1e-6).rounded(.up))).map { Double($0) * step }
    }

    private static func number(_ value: Double) -> String { String(format: "%g", value) }

    private static func place(_ value: Double) -> String { String(format: "%.1f", value) }

    private static func line(_ x: Double, _ y: Double, _ toX: Double, _ toY: Double, _ style: String) -> String {
        "<line class=\"\(style)\" x1=\"\(place(x))\" y1=\"\(place(y))\" x2=\"\(place(toX))\" y2=\"\(place(toY))\"/>"
    }

    private static func text(
        _ x: Double,
        _ y: Double,
        _ text: String,
        _ style: String,
        anchor: String = "start",
        extra: String = ""
    ) -> String {
        let attributes = "class=\"\(style)\" x=\"\(place(x))\" y=\"\(place(y))\" text-anchor=\"\(anchor)\"\(extra)"
        return "<text \(attributes)>\(escaped(text))</text>"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing("\"", with: "&quot;")
    }
}
