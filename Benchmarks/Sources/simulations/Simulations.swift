import Foundation

/// Shows in virtual time what plugins do on a bad day of a server, compared with nothing in their place.
@main
struct Simulations {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        let folder = arguments.count == 2 && arguments[0] == "--output" ? URL(filePath: arguments[1]) : nil
        let server = arguments.count == 2 && arguments[0] == "--open-soak" ? arguments[1] : nil
        guard arguments.isEmpty || folder != nil || server != nil else {
            print("usage: simulations [--output FOLDER | --open-soak ORIGIN-OF-SERVER]")
            exit(2)
        }
        var scenarios: [Scenario] = []
        if let server {
            scenarios = [try await Scenario.openSoak(at: server)]
            print(scenarios[0].table)
        } else {
            scenarios = try await run()
        }
        if let folder { try write(scenarios, to: folder) }
        let unproved = scenarios.filter { !$0.isProved }
        guard unproved.isEmpty else {
            print("\nnot proved: \(unproved.map(\.name).joined(separator: "; "))")
            exit(1)
        }
        print("\nall aims are met")
    }

    static func run() async throws -> [Scenario] {
        let steps: [@Sendable () async throws -> Scenario] = [
            {
                var scenario = await Scenario.quota(.there(.milliseconds(50)), share: 0.97)
                scenario.charts = [await Scenario.quotaChart()]
                return scenario
            },
            { await .quota(.there(.milliseconds(30)), share: 0.98) },
            { await .quota(.thereAndBack, share: 0.95) },
            { await .gate() },
            { await .overload() },
            { await .deadHost() },
            { await .hedging() },
            { await .fairness() },
            { await .adaptive() },
            { try await .openSoak() },
        ]
        var scenarios: [Scenario] = []
        for step in steps {
            let scenario = try await step()
            print("\(scenarios.isEmpty ? "" : "\n")\(scenario.table)")
            scenarios.append(scenario)
        }
        return scenarios
    }

    /// Writes the figures and the charts.
    static func write(_ scenarios: [Scenario], to folder: URL) throws {
        let (charts, results) = (folder.appending(path: "charts"), folder.appending(path: "results"))
        for folder in [charts, results] {
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        for chart in scenarios.flatMap(\.charts) {
            try Data(chart.svg.utf8).write(to: charts.appending(path: "\(chart.name).svg"))
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        struct Results: Encodable {
            let kind = "simulations"
            let scenarios: [Scenario]
        }
        try encoder.encode(Results(scenarios: scenarios)).write(to: results.appending(path: "simulations.json"))
    }
}
