import Foundation
import Pipeline
import PipelineAllocations
import TestSupport
import Testing

@Suite("Counting allocations", .enabled(if: PipelineAnalysis.AllocationCounter.thread != nil), .watched)
struct AllocationCounterTests {
    private final class Block {}

    private let target = URLTarget("https://a.test")

    @inline(never)
    private static func allocate(_ count: Int) {
        for _ in 0..<count { withExtendedLifetime(Block()) {} }
    }

    @Test("Each block counts once, on its thread and in the process")
    func blocks() throws {
        let thread = try #require(PipelineAnalysis.AllocationCounter.thread)
        let process = try #require(PipelineAnalysis.AllocationCounter.process)
        let before = process.read()
        var blocks: [UnsafeMutableRawPointer?] = []
        blocks.reserveCapacity(20)
        let first = thread.read().count
        for _ in 0..<10 { blocks.append(malloc(1_000)) }
        #expect(thread.read().count - first == 10)
        for index in blocks.indices { blocks[index] = realloc(blocks[index], 2_000) }
        blocks.append(calloc(10, 10))
        var aligned: UnsafeMutableRawPointer?
        #expect(posix_memalign(&aligned, 256, 10) == 0)
        blocks.append(aligned)
        #expect(thread.read().count - first >= 22)
        #expect(process.read().count - before.count >= 22)
        #expect(before.thread == nil)
        for block in blocks { free(block) }
    }

    @Test("The allocations of another thread count only in the process")
    func otherThread() async throws {
        let thread = try #require(PipelineAnalysis.AllocationCounter.thread)
        let process = try #require(PipelineAnalysis.AllocationCounter.process)
        let before = process.read().count
        let mine = thread.read()
        let (signal, end) = AsyncStream<PipelineAnalysis.AllocationCounter.Count>.makeStream()
        Thread {
            let first = thread.read().count
            for _ in 0..<50 { free(malloc(10)) }
            end.yield(
                PipelineAnalysis.AllocationCounter.Count(thread.read().count - first, thread: thread.read().thread)
            )
            end.finish()
        }.start()
        var other: PipelineAnalysis.AllocationCounter.Count?
        for await count in signal { other = count }
        #expect(other?.count == 50)
        #expect(other?.thread != mine.thread)
        #expect(process.read().count - before >= 50)
    }

    private static let request: [(String, any PluginType)] = [
        ("prepare", PluginStack.prepare(name: "P") { _, _ in }),
        ("intercept", PluginStack.intercept(name: "P") { request, _, next in try await next(request) }),
        ("willSend", PluginStack.willSend(name: "P") { _, _ in }),
        ("didReceive", PluginStack.didReceive(name: "P") { _, _ in }),
        ("process", PluginStack.process(name: "P") { _, _ in }),
        ("didFinish", PluginStack.didFinish(name: "P") { _, _ in }),
    ]

    @Test("A plugin that does nothing allocates nothing", arguments: request.map(\.0))
    func nothing(stage: String) async throws {
        let plugin = try #require(Self.request.first { $0.0 == stage }?.1)
        let retry = RetryPlugin()
        let provider = Provider<URLTarget>(transport: StubTransport(), plugins: [plugin, retry, plugin])
        let analysis = try await provider.explain(running: target, allocations: .thread)
        #expect(analysis.plugins[0].allocations == 0, "\(analysis)")
        #expect(analysis.plugins[2].allocations == 0, "\(analysis)")
        #expect(analysis.core.allocations > 0)
        #expect(analysis.exchanges.allocations == analysis.transport.allocations)
    }

    @Test("A plugin's own allocations are counted, and an exchange plugin's include the guard of its send")
    func own() async throws {
        let provider = Provider<URLTarget>(
            transport: StubTransport(),
            plugins: [
                PluginStack.intercept(name: "A") { request, _, next in
                    Self.allocate(3)
                    return try await next(request)
                },
                PluginStack.prepare(name: "B") { _, _ in Self.allocate(5) },
                PluginStack.exchange(name: "C") { request, _, send in
                    Self.allocate(2)
                    return try await send(request)
                },
                PluginStack.exchange(name: "D") { request, _, send in try await send(request) },
            ]
        )
        let analysis = try await provider.explain(running: target, allocations: .thread)
        #expect(analysis.plugins.map(\.allocations) == [3, 5, 3, 1], "\(analysis)")
    }
}
