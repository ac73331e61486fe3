import Foundation
import Pipeline
import PipelinePlugins
import PipelineTransports
import Synchronization

/// Holds all requests until it is told to answer.
final class HeldTransport: Transport {
    private struct State {
        var isReleased = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    let decodesContent = false
    private let state = Mutex(State())

    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        await withCheckedContinuation { continuation in
            let isReleased = state.withLock { state in
                if !state.isReleased { state.waiting.append(continuation) }
                return state.isReleased
            }
            if isReleased { continuation.resume() }
        }
        return PipelineResponse(request: request, statusCode: 200, data: context.target.sampleData)
    }

    func release() {
        let waiting = state.withLock { state in
            state.isReleased = true
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }
}

extension Overhead {
    /// Calls at once, each in a task of its own: that have their own exchanges, and that share one.
    static func joining() -> [Case] {
        let group = 1_000
        let plain = Provider<Shop>(transport: StubTransport())
        return [
            request("DeduplicationPlugin, nobody joins", plugins: [DeduplicationPlugin()]),
            Case(name: "own exchange, 1,000 calls at once") { count in
                for batch in batches(of: group, in: count) {
                    try await withThrowingTaskGroup(of: Void.self) { tasks in
                        for _ in 0..<batch { tasks.addTask { consume(try await plain.request(.item(1))) } }
                        try await tasks.waitForAll()
                    }
                }
            },
            Case(name: "joined, 1,000 calls at once") { count in
                for batch in batches(of: group, in: count) {
                    let transport = HeldTransport()
                    let plugin = DeduplicationPlugin()
                    let provider = Provider<Shop>(transport: transport, plugins: [plugin])
                    try await withThrowingTaskGroup(of: Void.self) { tasks in
                        for _ in 0..<batch { tasks.addTask { consume(try await provider.request(.item(1))) } }
                        while plugin.callerCount < batch { await Task.yield() }
                        transport.release()
                        try await tasks.waitForAll()
                    }
                }
            },
        ]
    }

    private static func batches(of size: Int, in count: Int) -> [Int] {
        stride(from: 0, to: count, by: size).map { min(size, count - $0) }
    }
}
