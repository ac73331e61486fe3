import Foundation
import PipelineCore
import Synchronization

extension PluginCheck {
    /// A body that arrives in pieces and records when they are read.
    private final class Source: Sendable {
        private struct State {
            var produced = 0
            var isHandedOn = false
            var wasReadBefore = false
        }

        static let chunkCount = 256

        private let state = Mutex(State())

        static let chunks = (0..<chunkCount).map { Data(repeating: UInt8(truncatingIfNeeded: $0), count: 4_096 + $0) }

        /// Whether the whole body was read before the caller had the response.
        var wasReadBefore: Bool { state.withLock { $0.wasReadBefore } }

        /// The number of pieces that were requested.
        var producedCount: Int { state.withLock { $0.produced } }

        func handOn() {
            state.withLock { $0.isHandedOn = true }
        }

        func next() -> Data? {
            state.withLock { state in
                guard state.produced < Self.chunkCount else {
                    if !state.isHandedOn { state.wasReadBefore = true }
                    return nil
                }
                state.produced += 1
                return Self.chunks[state.produced - 1]
            }
        }
    }

    static let stream: @Sendable (PluginBench) async -> [String] = { bench in
        let source = Source()
        let body = PipelineBody.stream(AsyncStream { source.next() })
        let provider = bench.provider(ScriptedTransport(always: .status(200, body: body)))
        let call = ObservedCall {
            let response = try await provider.stream(PluginProbe())
            source.handOn()
            var data = Data()
            for try await chunk in response.body { data.append(chunk) }
            return data
        }
        var found: [String] = []
        switch await call.end(moving: bench.clock, patience: bench.patience, progress: { source.producedCount }) {
        case .value(let data):
            if data != Source.chunks.reduce(Data(), +) {
                found.append("of a streamed body other bytes arrived than were sent, or in another order")
            }
        case .failure(let error): found.append("a streamed body could not be read: \(error)")
        case .cancelled: found.append("a streamed body ended as cancelled, although nothing cancelled it")
        case .hung: found.append("a streamed body did not end")
        }
        if source.wasReadBefore {
            found.append("a streamed body was read to its end before the response was handed on")
        }
        return found
    }
}
