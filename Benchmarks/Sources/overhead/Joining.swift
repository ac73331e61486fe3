import Foundation
import Pipeline
import Synchronization

/// A transport that holds all requests until it is released.
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
    private static let group = 1_000

    /// Returns cases with concurrent calls, each in a task of its own, that have separate exchanges or share one.
    static func joining() -> [Case] {
        [
            request("DeduplicationPlugin, no call joins", plugins: [DeduplicationPlugin()]),
            Case("own exchange, 1,000 calls at once", repeating: callAtOnce),
            Case("joined, 1,000 calls at once", repeating: join),
        ]
    }

    static func joinComparisons(isQuick: Bool) -> [Comparison] {
        let count = isQuick ? group : 20 * group
        return [
            Comparison(name: "1,000 calls joined, beside as many of their own") {
                try await join(count)
            } yardstick: {
                try await callAtOnce(count)
            }
        ]
    }

    @Sendable private static func callAtOnce(_ count: Int) async throws {
        let provider = Provider<Shop>(transport: StubTransport())
        for batch in batches(of: group, in: count) {
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for _ in 0..<batch { tasks.addTask { consume(try await provider.request(.item(1))) } }
                try await tasks.waitForAll()
            }
        }
    }

    @Sendable private static func join(_ count: Int) async throws {
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
    }

    private static func batches(of size: Int, in count: Int) -> [Int] {
        stride(from: 0, to: count, by: size).map { min(size, count - $0) }
    }
}
