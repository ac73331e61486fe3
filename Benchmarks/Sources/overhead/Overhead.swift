import Foundation
import Pipeline
import PipelineAllocations
import PipelineTesting

/// Measures what the pipeline adds to a request to a stub, compared with yardsticks from the same run.
@main
struct Overhead {
    static func main() async throws {
        var arguments = CommandLine.arguments.dropFirst()
        var jsonPath: String?
        var isQuick = false
        var only: String?
        while let argument = arguments.popFirst() {
            switch argument {
            case "--quick": isQuick = true
            case "--serve": return try await serve(makeCases())
            case "--only" where !arguments.isEmpty: only = arguments.popFirst()
            case "--json" where !arguments.isEmpty: jsonPath = arguments.popFirst()
            default:
                print("usage: overhead [--quick] [--json FILE] | --only CASE | --serve")
                exit(2)
            }
        }
        if let only {
            _ = try await benchmark(makeCases().filter { $0.name == only }).run(rounds: 1, iterations: 100_000)
            return
        }
        let report = try await benchmark(makeCases())
            .run(rounds: isQuick ? 3 : 21, iterations: isQuick ? 200 : 20_000)
        print("\(report)\n\n\(table(of: slopes(of: report.cases)))")
        let comparisons = try await compare(isQuick: isQuick)
        print("\n" + row("beside a yardstick of the same run", "MB/s", "", "ratio"))
        for result in comparisons {
            let rate = result.megabytesPerSecond
            print(
                row(result.name, rate > 0 ? String(format: "%.0f", rate) : "", "", String(format: "%.3f", result.ratio))
            )
        }
        if let jsonPath {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            let file = Report(costs: report.cases, perPluginStage: slopes(of: report.cases), comparisons: comparisons)
            try encoder.encode(file).write(to: URL(fileURLWithPath: jsonPath))
        }
    }

    struct Report: Codable {
        var kind = "overhead"
        /// Their ratios are to the first yardstick.
        let costs: [PipelineBenchmark.Report.Measurement]
        /// The cost of one more plugin of a stage in yardsticks, from the difference between 32 plugins and none.
        let perPluginStage: [String: Double]
        let comparisons: [Comparison.Result]
    }

    static func compare(isQuick: Bool) async throws -> [Comparison.Result] {
        let folder = FileManager.default.temporaryDirectory.appending(path: "overhead-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let comparisons = try Forms.comparisons(in: folder, isQuick: isQuick) + joinComparisons(isQuick: isQuick)
        return try await Comparison.measure(comparisons, rounds: isQuick ? 1 : 15)
    }

    static func benchmark(_ cases: [Case]) -> PipelineBenchmark {
        PipelineBenchmark("per request", cases: cases, allocations: .process)
    }

    static func makeCases() async throws -> [Case] {
        var cases = yardsticks()
        cases.append(
            Case("make the request of a target") { count in
                for _ in 0..<count { consume(try Endpoint(Shop.item(1)).makeRequest()) }
            }
        )
        cases.append(try await directTransport())
        cases.append(request("stubbed request, no plugins", plugins: []))
        for stage in stages {
            for count in [1, 8, 32] {
                let plugins = Array(repeating: stage.plugin, count: count)
                cases.append(request("\(count) × \(stage.name)", plugins: plugins))
            }
        }
        cases.append(request("realistic stack", plugins: realisticStack))
        cases += logging()
        cases += joining()
        cases += standard()
        cases += traffic()
        cases += signing()
        cases += moya()
        return cases
    }

    static func yardsticks() -> [Case] {
        [
            Case("build one HTTPRequest, two header fields") { count in
                for _ in 0..<count { consume(makeRequest()) }
            },
            Case("evaluate the target's own properties") { count in
                for _ in 0..<count {
                    let target = Shop.item(1)
                    consume((target.baseURL, target.path, target.method, target.task, target.headers))
                    consume((target.options, target.validationType, target.sampleData))
                }
            },
        ]
    }

    @inline(never)
    static func makeRequest() -> HTTPRequest {
        var fields = HTTPFields()
        fields[.accept] = "application/json"
        fields[.userAgent] = "shop/1.0"
        return HTTPRequest(
            method: .get,
            scheme: "https",
            authority: "api.example.com",
            path: "/v1/items/1",
            headerFields: fields
        )
    }

    /// Returns a case that calls the stub as the pipeline does, with a context captured from a call.
    static func directTransport() async throws -> Case {
        let capture = Capture()
        _ = try await Provider<Shop>(transport: capture).request(.item(1))
        let (request, context) = try capture.taken()
        let stub: any Transport = StubTransport()
        return Case("call the transport directly") { count in
            for _ in 0..<count { consume(try await stub.send(request, context: context)) }
        }
    }

    static func request(_ name: String, plugins: [any PluginType]) -> Case {
        let provider = Provider<Shop>(transport: StubTransport(), plugins: plugins)
        return Case(name) { count in
            for _ in 0..<count { consume(try await provider.request(.item(1))) }
        }
    }

    static func slopes(of costs: [PipelineBenchmark.Report.Measurement]) -> [String: Double] {
        let base = costs.first { $0.name.hasSuffix("no plugins") }?.ratio ?? 0
        return Dictionary(
            uniqueKeysWithValues: stages.compactMap { stage in
                costs.first { $0.name == "32 × \(stage.name)" }.map { (stage.name, ($0.ratio - base) / 32) }
            }
        )
    }

    static func table(of slopes: [String: Double]) -> String {
        let head = row("one more plugin of a stage (32 against none)", "", "", "yardsticks")
        let rows = stages.map { row($0.name, "", "", String(format: "%.3f", slopes[$0.name] ?? 0)) }
        return ([head] + rows).joined(separator: "\n")
    }

    private static func row(_ name: String, _ columns: String...) -> String {
        func pad(_ text: String, _ width: Int) -> String { String(repeating: " ", count: max(0, width - text.count)) }
        return name + pad(name, 46) + columns.map { pad($0, 13) + $0 }.joined()
    }
}
