extension PipelineAnalysis {
    /// A table with a row for each plugin and stage, and for the other parts of a call.
    public var description: String {
        let hasWaits = plugins.contains { $0.waitNanoseconds > 0 }
        var lines: [[String]] = [["µs per call", "time"] + (hasWaits ? ["waits"] : []) + ["share"]]
        if countsAllocations { lines[0].append("allocations") }
        lines[0].append("runs")
        func add(_ row: Row, _ label: String, showsRuns: Bool) {
            var line = [label, Self.decimal(row.nanoseconds / 10, 2)]
            if hasWaits { line.append(row.waitNanoseconds > 0 ? Self.decimal(row.waitNanoseconds / 10, 2) : "") }
            line.append("\(Int((row.share * 100).rounded())) %")
            if countsAllocations { line.append("\(row.allocations)") }
            line.append(showsRuns ? Self.runs(row.runs) : "")
            lines.append(line)
        }
        for (index, plugin) in plugins.enumerated() {
            add(plugin, "\(index + 1) \(plugin.name)", showsRuns: false)
            for stage in plugin.stages { add(stage, "    \(stage.name)", showsRuns: true) }
        }
        add(exchanges, "exchanges over \(transportName)", showsRuns: true)
        for part in [core, total, transport, overhead] { add(part, part.name, showsRuns: part.runs > 0) }
        let title = "\(name), \(rounds) rounds"
        return ([title] + TextTable.lines(lines)).joined(separator: "\n")
    }

    /// Returns a number of runs, with decimals unless it is whole.
    private static func runs(_ runs: Double) -> String {
        let hundredths = Int((runs * 100).rounded())
        return hundredths % 100 == 0 ? "\(hundredths / 100)" : decimal(hundredths, 2)
    }

    /// Returns a number with a decimal point before its last digits.
    private static func decimal(_ number: Int, _ digits: Int) -> String {
        let unit = (0..<digits).reduce(1) { product, _ in product * 10 }
        let fraction = "\(abs(number) % unit)"
        let zeros = String(repeating: "0", count: digits - fraction.count)
        return (number < 0 ? "-" : "") + "\(abs(number) / unit)." + zeros + fraction
    }
}
