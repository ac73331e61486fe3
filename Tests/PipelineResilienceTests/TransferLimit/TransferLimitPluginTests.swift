import Foundation
import HTTPTypes
import Pipeline
import PipelineResilience
import PipelineTesting
import TestSupport
import Testing

@Suite("TransferLimitPlugin", .watched)
struct TransferLimitPluginTests {
    private let clock = ManualClock()

    private func provider(_ transport: any Transport, _ plugin: TransferLimitPlugin) -> Provider<Ask> {
        Provider(transport: transport, plugins: [plugin], configuration: .init(clock: clock))
    }

    private static let body = Data(repeating: 7, count: 4_000)

    /// A response that is a stream of the body, in pieces of 1,500 bytes.
    private static func streamed(_ request: PipelineRequest) -> PipelineResponse {
        let pieces = [body.prefix(1_500), body.dropFirst(1_500).prefix(1_500), body.suffix(1_000)]
        let chunks = AsyncStream { continuation in
            for piece in pieces { continuation.yield(Data(piece)) }
            continuation.finish()
        }
        return PipelineResponse(
            request: request,
            head: .init(status: .ok),
            body: .stream(chunks, byteCount: body.count)
        )
    }

    @Test("The plugin passes the conformance suite")
    func conformance() async {
        #expect(await PluginConformance { TransferLimitPlugin(bytesPerSecond: 1 << 20) }.run() == [])
    }

    @Test("A streamed response passes at the given rate, in pieces of at most a tenth of a second, and is complete")
    func streamed() async throws {
        let provider = provider(Network { Self.streamed($0) }, TransferLimitPlugin(bytesPerSecond: 1_000))
        try await clock.run {
            let start = clock.now
            var (received, largest) = (Data(), 0)
            for try await chunk in try await provider.stream(Ask()).body {
                received += chunk
                largest = max(largest, chunk.count)
            }
            #expect(received == Self.body)
            #expect(largest == 100)
            #expect(abs(start.duration(to: clock.now) / .seconds(1) - 4) < 0.001)
        }
    }

    @Test("Calls share the limit of a direction; the two directions do not share one")
    func shared() async throws {
        let transport = ScriptedTransport(always: .status(200, body: String(repeating: "a", count: 1_000)))
        let plugin = TransferLimitPlugin(bytesPerSecond: 1_000)
        let providers = [provider(transport, plugin), provider(transport, plugin)]
        try await clock.run {
            let start = clock.now
            try await withThrowingTaskGroup { group in
                for provider in providers {
                    group.addTask { _ = try await provider.request(Ask(method: .post, task: .requestData(Self.body))) }
                }
                try await group.waitForAll()
            }
            // 8,000 bytes up one after another; the response of the first goes down meanwhile.
            #expect(abs(start.duration(to: clock.now) / .seconds(1) - 9) < 0.001)
        }
    }

    @Test("A file is sent at the given rate with its length, and can be sent again")
    func upload() async throws {
        let file = URL.temporaryDirectory.appending(path: "pace-\(UUID())")
        try Self.body.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let transport = Network { request in
            #expect(request.body.byteCount == 4_000)
            #expect(request.body.isReplayable)
            for _ in 1...2 {
                let sent = try await request.body.collect(upTo: 5_000)
                #expect(sent == Self.body)
            }
            return PipelineResponse(request: request, head: .init(status: .noContent))
        }
        let provider = provider(transport, TransferLimitPlugin(bytesPerSecond: 4_000))
        try await clock.run {
            let start = clock.now
            _ = try await provider.request(Ask(method: .post, task: .uploadFile(file)))
            #expect(abs(start.duration(to: clock.now) / .seconds(1) - 2) < 0.001)
        }
    }

    @Test("A cancelled call stops waiting")
    func cancelled() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = provider(transport, TransferLimitPlugin(bytesPerSecond: 1))
        let call = Task { try await provider.request(Ask(method: .post, task: .requestData(Self.body))) }
        try await clock.waitForSleepers()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(transport.sent.isEmpty)
    }
}

/// A transport that is a closure.
private struct Network: Transport {
    let decodesContent = false
    let answer: @Sendable (PipelineRequest) async throws -> PipelineResponse

    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        try await answer(request)
    }
}
