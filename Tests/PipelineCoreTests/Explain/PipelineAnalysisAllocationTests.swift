import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("The allocations of a stack", .watched)
struct PipelineAnalysisAllocationTests {
    /// Counts what a test says that is allocated.
    private final class Fake: Sendable {
        private let state = Mutex((count: 0, thread: 0))

        var counter: PipelineAnalysis.AllocationCounter {
            PipelineAnalysis.AllocationCounter {
                self.state.withLock { PipelineAnalysis.AllocationCounter.Count($0.count, thread: $0.thread) }
            }
        }

        func allocate(_ count: Int) { state.withLock { $0.count += count } }
        func changeThread() { state.withLock { $0.thread += 1 } }
    }

    private let fake = Fake()
    private let transport: ScriptedTransport

    init() {
        transport = ScriptedTransport(
            always: .answer { [fake] request, _ in
                fake.allocate(10)
                return PipelineResponse(request: request, statusCode: 200)
            }
        )
    }

    private func analysis(_ plugins: [any PluginType], rounds: Int = 3) async throws -> PipelineAnalysis {
        try await Provider<URLTarget>(transport: transport, plugins: plugins)
            .explain(running: URLTarget("https://a.test"), rounds: rounds, allocations: fake.counter)
    }

    @Test("The allocations of a plugin exclude those inside it")
    func exclusive() async throws {
        let analysis = try await analysis([
            PluginStack.intercept(name: "A") { [fake] request, _, next in
                fake.allocate(1)
                let response = try await next(request)
                fake.allocate(2)
                return response
            },
            PluginStack.prepare(name: "B") { [fake] _, context in
                fake.allocate(4)
                await context.recordSpan("work") { fake.allocate(5) }
            },
            PluginStack.exchange(name: "C") { request, _, send in try await send(request) },
            PluginStack.didFinish(name: "D") { [fake] _, _ in fake.allocate(7) },
        ])
        #expect(analysis.countsAllocations)
        #expect(analysis.plugins.map(\.allocations) == [3, 9, 0, 7])
        #expect(analysis.exchanges.allocations == 10)
        #expect(analysis.core.allocations == 0)
        #expect(analysis.total.allocations == 29)
        #expect(analysis.transport.allocations == 10)
        #expect(analysis.overhead.allocations == 19)
    }

    @Test("The figure is the least of all rounds")
    func least() async throws {
        let calls = Mutex(0)
        let analysis = try await analysis([
            PluginStack.prepare(name: "A") { [fake] _, _ in
                let call = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                fake.allocate(call < 5 ? 3 : 8)
            }
        ])
        #expect(analysis["A"].allocations == 3)
    }

    @Test("Plugins with the same name add up")
    func sameName() async throws {
        let plugin = PluginStack.prepare(name: "A") { [fake] _, _ in fake.allocate(2) }
        let analysis = try await analysis([plugin, plugin])
        #expect(analysis.plugins.map(\.allocations) == [2, 2])
        #expect(analysis["A"].allocations == 4)
        #expect(analysis["A"].runs == 2)
        #expect(analysis["A"][.prepare].allocations == 4)
    }

    @Test("A round that changes threads is not counted")
    func changedThread() async throws {
        let calls = Mutex(0)
        let analysis = try await analysis([
            PluginStack.prepare(name: "A") { [fake] _, _ in
                let call = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                if call == 5 { fake.changeThread() }
                fake.allocate(call == 5 ? 1 : 2)
            }
        ])
        #expect(analysis["A"].allocations == 2)
    }

    @Test("If every round changes threads, the analysis fails and says what to do")
    func noThread() async throws {
        let hopping = PluginStack.prepare(name: "A") { [fake] _, _ in fake.changeThread() }
        let error = await #expect(throws: PipelineError.self) { try await analysis([hopping]) }
        #expect(error?.code == .plugin)
        #expect(error.map { "\($0)".contains("count those of the process") } == true)
    }
}
