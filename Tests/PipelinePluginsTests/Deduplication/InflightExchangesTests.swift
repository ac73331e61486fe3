import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelinePlugins

@Suite("InflightExchanges", .tags(.concurrent), .watched)
struct InflightExchangesTests {
    @Test("P06: a call cancelled before it arrives does not wait and abandons the exchange it began")
    func cancelledBefore() async throws {
        let exchanges = InflightExchanges(maximumCallerCount: 9, maximumExchangeCount: 9)
        let texts = AsyncStream.makeStream(of: String.self)
        let transport = ScriptedTransport(
            always: .answer { _, _ in
                let never = AsyncStream<Never> { _ in }
                for await _ in never {}
                texts.continuation.yield("cancelled")
                throw CancellationError()
            }
        )
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [
                .intercept { request, context, next in
                    guard let key = InflightKey(request, at: next.position) else { throw CancellationError() }
                    withUnsafeCurrentTask { $0?.cancel() }
                    let outcome = await exchanges.outcome(for: key, request, context, next)
                    texts.continuation.yield("\(outcome)")
                    throw CancellationError()
                }
            ]
        )
        await #expect(throws: CancellationError.self) { try await Task { try await provider.request(Ask()) }.value }
        var iterator = texts.stream.makeAsyncIterator()
        #expect(await iterator.next() == "cancelled")
        #expect((exchanges.exchangeCount, exchanges.callerCount) == (0, 0))
    }
}
