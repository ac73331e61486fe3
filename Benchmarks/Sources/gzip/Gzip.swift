import CZlibDirect
import Foundation
import Pipeline

/// Measures `GzipPlugin` in a provider against zlib called directly from C, with 16 MiB of JSON.
///
/// Ends with exit code 1 if a median falls below 0.95 of zlib.
@main
struct Gzip {
    struct Failure: Error {}

    static let leastRatio = 0.95

    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.isEmpty || arguments == ["--quick"] else {
            print("usage: gzip [--quick]")
            exit(2)
        }
        let isQuick = !arguments.isEmpty
        let pairs = try Pair.all(of: JSONText.make(byteCount: isQuick ? 1 << 20 : 16 << 20))
        let results = try await measure(pairs, rounds: isQuick ? 3 : 15)
        print(row("16 MiB of JSON", "MB/s of JSON", "zlib directly", "ratio"))
        for result in results {
            print(
                row(
                    result.name,
                    String(format: "%.0f", result.rate),
                    String(format: "%.0f", result.directRate),
                    String(format: "%.3f", result.ratio)
                )
            )
        }
        // A quick run is too short to judge the speed.
        if !isQuick, results.contains(where: { $0.ratio < leastRatio }) {
            print("FAILED: a ratio to zlib is below the limit of \(leastRatio)")
            exit(1)
        }
    }

    struct Result {
        let name: String
        /// Megabytes of JSON per second.
        let rate: Double
        let directRate: Double
        /// The median of the rounds' ratios, so that a slower machine affects both sides.
        let ratio: Double
    }

    @concurrent
    static func measure(_ pairs: [Pair], rounds: Int) async throws -> [Result] {
        var times = Array(repeating: [(direct: Double, plugin: Double)](), count: pairs.count)
        for round in 0...rounds {
            for (index, pair) in pairs.enumerated() {
                let isPluginFirst = round % 2 == 0
                var plugin = isPluginFirst ? try await time(pair.plugin) : 0
                let direct = try await time(pair.direct)
                if !isPluginFirst { plugin = try await time(pair.plugin) }
                // The first round is a warm-up.
                if round > 0 { times[index].append((direct, plugin)) }
            }
        }
        return pairs.indices.map { index in
            let megabytes = Double(pairs[index].byteCount) / 1e6
            return Result(
                name: pairs[index].name,
                rate: megabytes / median(times[index].map(\.plugin)),
                directRate: megabytes / median(times[index].map(\.direct)),
                ratio: median(times[index].map { $0.direct / $0.plugin })
            )
        }
    }

    private static func time(_ work: () async throws -> Void) async throws -> Double {
        let start = ContinuousClock.now
        try await work()
        let duration = start.duration(to: .now).components
        return Double(duration.seconds) + Double(duration.attoseconds) / 1e18
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private static func row(_ name: String, _ columns: String...) -> String {
        func pad(_ text: String, _ width: Int) -> String { String(repeating: " ", count: max(0, width - text.count)) }
        return name + pad(name, 34) + columns.map { pad($0, 15) + $0 }.joined()
    }
}
