import Foundation

/// What a simulation has shown.
struct Scenario: Encodable {
    /// An aim with the figures of both sides.
    struct Aim: Encodable {
        /// What was measured.
        let name: String
        /// The bound, as a text; `nil` for a figure without an aim.
        let bound: String?
        let with: Double
        /// The figure with nothing in place of the plugin; `nil` if there is none.
        let without: Double?
        let isMet: Bool
        let isMetWithout: Bool
        fileprivate let unit: Unit

        private enum CodingKeys: String, CodingKey { case name, bound, with, without, isMet, isMetWithout }
    }

    enum Bound {
        case atMost(Double)
        case atLeast(Double)

        func permits(_ value: Double) -> Bool {
            switch self {
            case .atMost(let limit): value <= limit
            case .atLeast(let limit): value >= limit
            }
        }

        func text(_ unit: Unit) -> String {
            switch self {
            case .atMost(let limit): limit == 0 ? "0" : "at most \(unit.text(limit))"
            case .atLeast(let limit): "at least \(unit.text(limit))"
            }
        }
    }

    enum Unit {
        case count, percent, milliseconds, seconds, perSecond

        func text(_ value: Double) -> String {
            switch self {
            case .count: value == value.rounded() ? "\(Int(value))" : String(format: "%.1f", value)
            case .percent: String(format: "%.1f %%", 100 * value)
            case .milliseconds:
                value < 1_000 ? String(format: "%.0f ms", value) : String(format: "%.2f s", value / 1_000)
            case .seconds: String(format: "%.2f s", value)
            case .perSecond: String(format: "%.1f/s", value)
            }
        }
    }

    let name: String
    /// The setting, in one sentence.
    let setting: String
    /// What the stack contains, and what is in its place.
    let sides: String
    private(set) var aims: [Aim] = []
    var charts: [Chart] = []

    private enum CodingKeys: String, CodingKey { case name, setting, sides, aims }

    init(_ name: String, _ setting: String, sides: String) {
        self.name = name
        self.setting = setting
        self.sides = sides
    }

    mutating func add(_ name: String, _ unit: Unit, _ bound: Bound? = nil, with: Double, without: Double? = nil) {
        let permits = { (value: Double) in bound?.permits(value) ?? true }
        aims.append(
            Aim(
                name: name,
                bound: bound?.text(unit),
                with: with,
                without: without,
                isMet: permits(with),
                isMetWithout: without.map(permits) ?? true,
                unit: unit
            )
        )
    }

    /// Whether the plugin meets all aims, and nothing in its place misses one.
    var isProved: Bool { aims.allSatisfy(\.isMet) && aims.contains { !$0.isMetWithout } }

    /// The aims beside their figures.
    var table: String {
        let head = ["", "aim", "measured", "", "without"]
        let rows = aims.map { aim in
            let without = aim.without.map(aim.unit.text) ?? "–"
            guard let bound = aim.bound else { return [aim.name, "", aim.unit.text(aim.with), "", without] }
            let alsoMet = aim.without != nil && aim.isMetWithout ? " (also met)" : ""
            return [aim.name, bound, aim.unit.text(aim.with), aim.isMet ? "met" : "MISSED", without + alsoMet]
        }
        let widths = head.indices.map { column in ([head] + rows).map { $0[column].count }.max() ?? 0 }
        let lines = ([head] + rows).map { row in
            zip(row, widths).map { $0.padding(toLength: $1, withPad: " ", startingAt: 0) }.joined(separator: "  ")
        }
        return (["\(name): \(setting)", "  (\(sides))"] + lines.map { "  " + $0 }).joined(separator: "\n")
    }
}
