import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("The table of an analysis", .watched)
struct PipelineAnalysisTableTests {
    private func row(
        _ name: String,
        _ nanoseconds: Int,
        _ allocations: Int,
        wait: Int = 0,
        runs: Double = 1,
        stages: [String] = []
    ) -> String {
        """
        {"name": "\(name)", "nanoseconds": \(nanoseconds), "waitNanoseconds": \(wait), "allocations": \(allocations),
         "runs": \(runs), "share": \(Double(nanoseconds) / 10_000), "yardsticks": \(Double(nanoseconds) / 500),
         "stages": [\(stages.joined(separator: ","))]}
        """
    }

    private func analysis(wait: Int = 0, countsAllocations: Bool = true) throws -> PipelineAnalysis {
        let retry = row(
            "RetryPlugin",
            1_234,
            3,
            wait: wait,
            stages: [row("intercept", 1_234, 3, wait: wait)]
        )
        let headers = row(
            "HeadersPlugin",
            750,
            12,
            runs: 1.5,
            stages: [row("prepare", 750, 12, runs: 1.5), row("process", 0, 0, runs: 0)]
        )
        let json = """
            {"name": "GET https://a.test/b", "transportName": "StubTransport", "plugins": [\(retry), \(headers)],
             "exchanges": \(row("exchanges", 500, 1, runs: 1.5)), "core": \(row("core", 7_516, 8, runs: 0)),
             "total": \(row("total", 10_000, 24)), "transport": \(row("transport alone", 450, 1)),
             "overhead": \(row("above the transport", 9_550, 23, runs: 0)), "yardstick": 500, "rounds": 100,
             "countsAllocations": \(countsAllocations)}
            """
        return try JSONDecoder().decode(PipelineAnalysis.self, from: Data(json.utf8))
    }

    @Test("It has a row for each plugin, stage and part")
    func table() throws {
        let expected = """
            GET https://a.test/b, 100 rounds
            µs per call                    time  share  allocations  runs
            1 RetryPlugin                  1.23   12 %            3
                intercept                  1.23   12 %            3     1
            2 HeadersPlugin                0.75    8 %           12
                prepare                    0.75    8 %           12  1.50
                process                    0.00    0 %            0     0
            exchanges over StubTransport   0.50    5 %            1  1.50
            core                           7.51   75 %            8
            total                         10.00  100 %           24     1
            transport alone                0.45    5 %            1     1
            above the transport            9.55   96 %           23
            """
        #expect(try "\(analysis())" == expected)
    }

    @Test("Waits have a column if there are any, and allocations if they were counted")
    func columns() throws {
        let lines = try "\(analysis(wait: 1_000, countsAllocations: false))".split(separator: "\n")
        #expect(lines.dropFirst().first == "µs per call                    time  waits  share  runs")
        #expect(lines.dropFirst(2).first == "1 RetryPlugin                  1.23   1.00   12 %")
    }

    @Test("An analysis that was encoded as JSON decodes to an equal one")
    func json() throws {
        let analysis = try analysis(wait: 7)
        let data = try JSONEncoder().encode(analysis)
        #expect(try JSONDecoder().decode(PipelineAnalysis.self, from: data) == analysis)
        #expect(analysis["HeadersPlugin"][.prepare].yardsticks == 1.5)
    }
}
