import Foundation

/// Measures the pipeline over network transports against their clients called directly, with an nginx of its own on loopback.
@main
struct Transports {
    struct Report: Codable {
        var kind = "transports"
        let connections: Int?
        var scaling: [Scaling] = []
        var concurrency: [Row] = []
        var bodySizes: [Row] = []
    }

    struct Settings {
        var isQuick = false
        var jsonPath: String?
        var connections: Int?
        /// A side to run alone, for a profiler.
        var only: String?

        var rounds: Int { isQuick ? 1 : 31 }
        var slice: Duration { isQuick ? .milliseconds(50) : .milliseconds(100) }
    }

    static let usage =
        "usage: transports [--quick] [--json FILE] [--connections COUNT] [--only \"CLIENT, SIDE\" | --only WORK]"
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
        if let only = settings.only {
            try await Scaling.run(only: only, count: 500_000)
            for contest in contests {
                for (name, side) in zip(Row.sides, contest.sides) where only == "\(contest.name), \(name)" {
                    print(try await Slice.measure(side, 1 << 10, inFlight: 16, for: .seconds(6)))
                }
            }
            return report
        }
        print("work of two tasks over that of one")
        report.scaling = try await Scaling.measure(rounds: settings.rounds, count: settings.isQuick ? 200 : 20_000)
        for result in report.scaling { print(result.line) }
        print("\n" + Row.heading)
        for contest in contests {
            for count in inFlight { report.concurrency.append(try await row(contest, count, 1 << 10, settings)) }
        }
        print("\n" + Row.heading)
        for contest in contests {
            for byteCount in bodyByteCounts { report.bodySizes.append(try await row(contest, 16, byteCount, settings)) }
        }
        return report
    }

    private static func row(
        _ contest: Contest,
        _ inFlight: Int,
        _ byteCount: Int,
        _ settings: Settings
    ) async throws -> Row {
        let row = try await Row.measure(
            contest,
            inFlight: inFlight,
            bodyByteCount: byteCount,
            rounds: settings.rounds,
            slice: settings.slice
        )
        print(row.line)
        return row
    }
}
