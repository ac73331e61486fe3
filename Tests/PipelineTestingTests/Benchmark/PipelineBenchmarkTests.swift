import Foundation
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import PipelineTesting

#if canImport(FoundationXML)
import FoundationXML
#endif

@Suite("A benchmark", .watched)
struct PipelineBenchmarkTests {
    private typealias Slice = PipelineBenchmark.Slice
    private typealias Report = PipelineBenchmark.Report

    /// Returns a report of five rounds with 10 iterations, in which the second case takes 2 to 6 times as long.
    private func report(_ name: String = "signed <&\"> \u{1}") throws -> Report {
        let plain = [100.0, 200, 100, 400, 100].map { Slice(count: 10, nanoseconds: $0, allocationCount: 42) }
        let signed = [300.0, 400, 400, 2_400, 500].enumerated().map { index, nanoseconds in
            Slice(count: 10, nanoseconds: nanoseconds, allocationCount: index == 1 ? nil : 60 - index)
        }
        return try Report("Signing", [("plain", plain), (name, signed)], iterations: 10)
    }

    @Test("Ratios are those of each round, and times are medians")
    func ratios() throws {
        let report = try report("signed")
        #expect(report.rounds == 5)
        #expect(report["plain"].nanoseconds == 10)
        #expect(report["plain"].ratio == 1)
        #expect(report["signed"].nanoseconds == 40)
        // The ratios of the rounds are 3, 2, 4, 6 and 5.
        #expect(report["signed"].ratio == 4)
        #expect(report["signed"].lowerQuartile == 3)
        #expect(report["signed"].upperQuartile == 5)
        #expect(report["plain"].allocations == 4.2)
        #expect(report["signed"].allocations == 5.6)
    }

    @Test("The ratio is the median of those of the rounds, not that of the medians")
    func pairs() throws {
        let one = [10.0, 20, 30].map { Slice(count: 1, nanoseconds: $0) }
        let other = [30.0, 20, 60].map { Slice(count: 1, nanoseconds: $0) }
        #expect(try Report("", [("a", one), ("b", other)], iterations: 1)["b"].ratio == 2)
    }

    @Test("It prints as a table")
    func table() throws {
        let expected = """
            Signing, 5 × 10  ns  allocations  ratio   middle half
            plain            10          4.2   1.00  1.00 to 1.00
            signed           40          5.6   4.00  3.00 to 5.00
            """
        #expect(try "\(report("signed"))" == expected)
        let uncounted = try Report("x", [("a", [Slice(count: 1, nanoseconds: 1)])], iterations: 1)
        #expect(!uncounted.countsAllocations)
        #expect("\(uncounted)".hasPrefix("x, 1 × 1  ns  ratio"))
    }

    @Test("A report that was encoded as JSON decodes to an equal one")
    func json() throws {
        let report = try report()
        #expect(try JSONDecoder().decode(Report.self, from: report.json()) == report)
    }

    @Test("The chart is valid XML with a bar for each case and a text for readers who do not see it")
    func chart() throws {
        final class Reader: NSObject, XMLParserDelegate {
            var elements: [String] = []
            var text = ""
            func parser(
                _ parser: XMLParser,
                didStartElement name: String,
                namespaceURI: String?,
                qualifiedName: String?,
                attributes: [String: String]
            ) { elements.append(name) }
            func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }
        }
        let reader = Reader()
        let parser = XMLParser(data: Data(try report().svg.utf8))
        parser.delegate = reader
        #expect(parser.parse(), "\(String(describing: parser.parserError))")
        #expect(reader.elements.count { $0 == "rect" } == 3)
        #expect(reader.elements.prefix(3) == ["svg", "title", "desc"])
        #expect(reader.text.contains("plain: 1.00; signed <&\">  : 4.00"))
    }

    @Test("Each case runs once as a warm-up and then in each round, in alternating order")
    func order() async throws {
        let runs = Mutex<[String]>([])
        func item(_ name: String) -> PipelineBenchmark.Case {
            PipelineBenchmark.Case(name) { count in runs.withLock { $0.append("\(name)\(count)") } }
        }
        let benchmark = PipelineBenchmark("x", cases: [item("a"), item("b")])
        let report = try await benchmark.run(rounds: 3, iterations: 20)
        #expect(runs.withLock { $0 } == ["a3", "b3", "a20", "b20", "b20", "a20", "a20", "b20"])
        #expect(report.rounds == 3)
        #expect(report.iterations == 20)
        #expect(report.cases.map(\.name) == ["a", "b"])
    }

    @Test("The error of a case ends the benchmark")
    func failure() async throws {
        struct Failure: Error {}
        var benchmark = PipelineBenchmark("x")
        benchmark.add("a") { throw Failure() }
        let failing = benchmark
        await #expect(throws: Failure.self) { _ = try await failing.run(rounds: 1, iterations: 1) }
    }

    @Test("The counter is read around each slice")
    func allocations() async throws {
        let count = Mutex((count: 0, thread: 0))
        let counter = PipelineAnalysis.AllocationCounter {
            count.withLock { PipelineAnalysis.AllocationCounter.Count($0.count, thread: $0.thread) }
        }
        var benchmark = PipelineBenchmark("x", allocations: counter)
        benchmark.add("a") { count.withLock { $0.count += 2 } }
        #expect(try await benchmark.run(rounds: 2, iterations: 5)["a"].allocations == 2)
        benchmark.add("b") { count.withLock { $0.thread += 1 } }
        let hopping = benchmark
        let error = await #expect(throws: PipelineError.self) { _ = try await hopping.run(rounds: 2, iterations: 5) }
        #expect(error.map { "\($0)".contains("the case b ended on another thread") } == true)
    }

    @Test("A stack is measured without plugins, with each plugin alone, and with all")
    func stack() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let seen = Mutex<[String]>([])
        func plugin(_ name: String) -> any PluginType {
            PluginStack.prepare(name: name) { _, _ in seen.withLock { $0.append(name) } }
        }
        let stack = PluginStack([plugin("B"), plugin("A")])
        let benchmark = PipelineBenchmark(
            stack: [plugin("A"), stack],
            running: URLTarget("https://a.test"),
            over: transport
        )
        let report = try await benchmark.run(rounds: 1, iterations: 1)
        #expect(report.name == "URLTarget")
        #expect(report.cases.map(\.name) == ["no plugins", "A", "B", "A 3", "all plugins"])
        #expect(seen.withLock { $0.suffix(6) } == ["A", "B", "A", "A", "B", "A"])
        #expect(transport.sent.count == 10)
    }

    @Test("A budget has a tolerance, and is not judged in a CI by default")
    func budget() {
        typealias Row = (figure: Double, tolerance: Double, inCI: Bool, ci: String?, isMet: Bool)
        let rows: [Row] = [
            (1.24, 0.25, false, nil, true), (1.26, 0.25, false, nil, false), (1.01, 0, false, nil, false),
            (9, 0.25, false, "true", true), (9, 0.25, false, "1", true), (9, 0.25, false, "false", false),
            (9, 0.25, false, "", false), (9, 0.25, true, "true", false), (1, 0, true, "true", true),
        ]
        for row in rows {
            let environment = row.ci.map { ["CI": $0] } ?? [:]
            #expect(TimeBudget.isMet(row.figure, 1, row.tolerance, inCI: row.inCI, environment) == row.isMet, "\(row)")
        }
    }
}
