import Foundation

/// Measures the pipeline over network transports against their clients called directly, with its own nginx on loopback.
@main
struct Transports {
    struct Report: Codable {
        var kind = "transports"
        let connections: Int?
        var scaling: [Scaling] = []
        var stacks: [Row] = []
        var concurrency: [Row] = []
        var bodySizes: [Row] = []
    }

    struct Settings {
        var isQuick = false
        var serves = false
        var jsonPath: String?
        var connections: Int?
        /// A side or work to run alone, for a profiler.
        var only: String?

        var rounds: Int { isQuick ? 1 : 31 }
        var slice: Duration { isQuick ? .milliseconds(50) : .milliseconds(100) }
    }

    static let usage = """
        usage: transports [--quick] [--json FILE] [--connections COUNT] [--only "CLIENT, SIDE" | --only WORK | --serve]
        """
    static let inFlight = [1, 16, 64, 256]
    static let bodyByteCounts = [0, 1 << 10, 64 << 10, 1 << 20]

    static func main() async throws {
        guard let settings = settings(CommandLine.arguments.dropFirst()) else {
            print(usage)
            exit(2)
        }
        let server: Nginx
        do {
            server = try Nginx(bodyByteCounts: bodyByteCounts)
        } catch let failure as Nginx.Failure {
            print(failure)
            exit(2)
        }
        let report: Report
        do {
            defer { server.stop() }
            report = try await measure(settings)
        }
        if let path = settings.jsonPath {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            try encoder.encode(report).write(to: URL(fileURLWithPath: path))
        }
    }

    private static func settings(_ arguments: ArraySlice<String>) -> Settings? {
        var arguments = arguments
        var settings = Settings()
        while let argument = arguments.popFirst() {
            switch argument {
            case "--quick": settings.isQuick = true
            case "--serve": settings.serves = true
            case "--json" where !arguments.isEmpty: settings.jsonPath = arguments.popFirst()
            case "--connections":
                guard let count = arguments.popFirst().flatMap({ Int($0) }), count > 0 else { return nil }
                settings.connections = count
            case "--only" where !arguments.isEmpty: settings.only = arguments.popFirst()
            default: return nil
            }
        }
        return settings
    }

    private static func measure(_ settings: Settings) async throws -> Report {
        var report = Report(connections: settings.connections)
        let contests = [
            Contest.asyncHTTPClient(connections: settings.connections), Contest.urlSession(),
        ]
        if settings.serves {
            try await Case.serve(contests.flatMap(cases) + Scaling.cases())
            return report
        }
        if let only = settings.only {
            try await Scaling.run(only: only, count: 500_000)
            for contest in contests {
                for side in contest.sides where only == "\(contest.name), \(side.name)" {
                    print(try await side.measure(1 << 10, inFlight: 16, for: .seconds(6)))
                }
            }
            return report
        }
        print(Scaling.heading)
        report.scaling = try await Scaling.measure(rounds: settings.rounds, count: settings.isQuick ? 200 : 20_000)
        for result in report.scaling { print(result.line) }
        for contest in contests {
            for count in settings.isQuick ? [16] : [1, 16, 64] {
                report.stacks.append(try await row(contest, count, 1 << 10, settings) { "\n" + $0.table })
            }
        }
        let shortened = contests.map { Contest(name: $0.name, sides: Array($0.sides.prefix(3))) }
        print("\n" + Row.heading)
        for contest in shortened {
            for count in inFlight {
                report.concurrency.append(try await row(contest, count, 1 << 10, settings, \.line))
            }
        }
        print("\n" + Row.heading)
        for contest in shortened {
            for count in bodyByteCounts { report.bodySizes.append(try await row(contest, 16, count, settings, \.line)) }
        }
        return report
    }

    private static func cases(_ contest: Contest) -> [Case] {
        contest.sides.flatMap { side in
            [1, 16, 64].map { inFlight in
                Case(name: "\(contest.name), \(inFlight) in flight, \(side.name)") { count in
                    try await side.send(1 << 10, inFlight: inFlight, count: count)
                }
            }
        }
    }

    private static func row(
        _ contest: Contest,
        _ inFlight: Int,
        _ byteCount: Int,
        _ settings: Settings,
        _ text: (Row) -> String
    ) async throws -> Row {
        let row = try await Row.measure(
            contest,
            inFlight: inFlight,
            bodyByteCount: byteCount,
            rounds: settings.rounds,
            slice: settings.slice
        )
        print(text(row))
        return row
    }
}
