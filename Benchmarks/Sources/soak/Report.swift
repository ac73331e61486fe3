/// The printed report of a run.
enum Report {
    static func write(_ figures: Figures) {
        let options = figures.options
        print(
            "\(options.transport), \(options.inFlightCount) in flight, plugins: \(options.hasPlugins ? "standard" : "none")"
                + (options.hasChaos ? ", chaos" : "") + ", cancelled: \(options.cancelledShare), seed \(options.seed), "
                + "\(Int(figures.duration / .seconds(1))) s"
        )
        for (label, count) in figures.tally.counts.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
            print("    " + row(label, "\(count)"))
        }
        for check in figures.checks {
            print("  " + row(check.name, check.text) + (check.verdict == .shown ? "" : "  \(check.verdict.rawValue)"))
        }
        for mismatch in figures.tally.mismatches {
            let plan = mismatch.plan
            print(
                "  call \(plan.index), \(plan.behaviour), body \(plan.variant), may succeed from attempt \(plan.healsAt)"
            )
            print("    expected \(mismatch.expected)")
            print("    found    \(mismatch.found)")
        }
        print("")
    }

    private static func row(_ name: String, _ text: String) -> String {
        name + String(repeating: " ", count: max(1, 24 - name.count)) + text
    }
}
