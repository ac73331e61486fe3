import Foundation
import Pipeline
import PipelineAllocations
import PipelineTesting
import TestSupport
import Testing

/// The samples of the guide MeasureYourStack.
@Suite("The samples of the guide MeasureYourStack", .watched)
struct MeasuringSamples {
    private typealias GitHub = GettingStartedSamples.GitHub

    @Test("A stack is explained by running a target")
    func explain() async throws {
        // sample: explain
        let provider = Provider<GitHub>(
            transport: StubTransport(),
            plugins: [LoggingPlugin(level: .error), RetryPlugin(), HeadersPlugin(["X-Client": "shop/1.0"])]
        )
        let analysis = try await provider.explain(running: .repository("swiftlang/swift"), allocations: .thread)
        print(analysis)
        // end
        #expect(analysis.plugins.map(\.name) == ["LoggingPlugin", "RetryPlugin", "HeadersPlugin"])
        #expect(analysis["HeadersPlugin"].runs == 1)
    }

    /// Only compiled, because no test depends on speed.
    private func budget(_ provider: Provider<GitHub>) async throws {
        // sample: budget
        let analysis = try await provider.explain(running: .repository("swiftlang/swift"), allocations: .thread)
        #expect(analysis["RetryPlugin"].allocations <= 3)
        #expect(analysis["RetryPlugin"][.intercept].runs == 1)
        #expect(analysis["RetryPlugin"].isWithin(yardsticks: 2))
        // end
    }

    /// Only compiled, because no test depends on speed.
    private func benchmark(_ plain: Provider<GitHub>, _ signing: Provider<GitHub>) async throws {
        // sample: benchmark
        var benchmark = PipelineBenchmark("Signing", allocations: .process)
        benchmark.add("unsigned") { try await plain.request(.repository("swiftlang/swift")) }
        benchmark.add("signed") { try await signing.request(.repository("swiftlang/swift")) }
        let report = try await benchmark.run(rounds: 21, iterations: 10_000)
        print(report)
        #expect(report["signed"].allocations <= 12)
        #expect(report["signed"].isWithin(ratio: 1.5))
        // end
        let folder = FileManager.default.temporaryDirectory
        // sample: files
        try report.json().write(to: folder.appending(path: "signing.json"))
        try report.svg.write(to: folder.appending(path: "signing.svg"), atomically: true, encoding: .utf8)
        // end
    }

    @Test("A stack is measured plugin by plugin")
    func stack() async throws {
        let rounds = 1
        let iterations = 1
        // sample: stack
        let benchmark = PipelineBenchmark(
            stack: [RetryPlugin(), GzipPlugin()],
            running: GitHub.repository("swiftlang/swift"),
            over: StubTransport()
        )
        let report = try await benchmark.run(rounds: rounds, iterations: iterations)
        // end
        #expect(report.cases.map(\.name) == ["no plugins", "RetryPlugin", "GzipPlugin", "all plugins"])
    }
}
