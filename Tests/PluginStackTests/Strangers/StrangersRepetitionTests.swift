import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// What is sent again and what is not, with each of the stacks.
@Suite("Plugins of another package in place of ours: repeated requests", .watched)
struct StrangersRepetitionTests {
    private typealias Bench = StrangersBench
    private typealias Call = StrangersCall

    private static let stacks = StrangersStack.allCases

    @Test("T04 A POST is repeated only with an idempotency key, which stays the same", arguments: stacks)
    func post(stack: StrangersStack) async {
        for key in [nil, "k"] {
            let bench = Bench(stack) { _, index in index == 0 ? .failure(.connectionLost) : .status(200) }
            let result = await bench.get(Ask(method: .post, headers: key.map { ["Idempotency-Key": $0] }))
            #expect(result.response?.statusCode == (key == nil ? nil : 200))
            let keys = bench.transport.sent.map { $0.headers[HTTPField.Name("Idempotency-Key") ?? .from] }
            #expect(keys == Array(repeating: key, count: key == nil ? 1 : 2))
            #expect(result.exchanges.first?.refusedRetry == (key == nil ? .methodNotIdempotent : nil))
        }
    }

    @Test("T05 A body that can be read only once is not sent again", arguments: stacks)
    func oneShotBody(stack: StrangersStack) async {
        let bench = Bench(stack) { _, _ in
            .answer { request, _ in
                _ = try await request.body.collect(upTo: 100)
                return PipelineResponse(request: request, statusCode: 503)
            }
        }
        let bytes = AsyncStream<Data> { continuation in
            continuation.yield(Data("a".utf8))
            continuation.finish()
        }
        let result = await bench.get(Ask(method: .put, task: .requestStream(.stream(bytes))))
        #expect(result.response?.statusCode == 503)
        #expect(result.exchanges.map(\.refusedRetry) == [.bodyNotReplayable])
    }

    @Test("T06 The minimum duration is that of the call, with a retry and a shared exchange in it", arguments: stacks)
    func minimumDuration(stack: StrangersStack) async {
        let bench = Bench(stack) { _, index in .delayed(.seconds(1), .status(index == 0 ? 503 : 200)) }
        let start = bench.clock.now
        let ask = Ask(options: RequestOptions { $0.minimumDuration = .seconds(20) })
        #expect(await bench.results(10, Call(ask)).allSatisfy { $0.response?.statusCode == 200 })
        #expect(start.duration(to: bench.clock.now) == .seconds(20))
        #expect(bench.transport.sent.count == 2)
    }

    @Test("T09 A timeout of a plugin before anything is sent is not retried, and the budget stays", arguments: stacks)
    func timeoutOfPlugin(stack: StrangersStack) async {
        let isFirst = Atomic(true)
        let sign = PluginStack.prepare { _, _ in
            guard isFirst.exchange(false, ordering: .relaxed) else { return }
            throw PipelineError(.timeout(.init(rawValue: "signing")), "signing took too long")
        }
        let budget = RetryBudget(ratio: 0, minimumPerSecond: 0.1)
        let bench = Bench(stack, budget: budget, authentication: [sign]) { _, index in .status(index == 0 ? 503 : 200) }
        #expect(await bench.get().shown == "timeout.signing")
        #expect(bench.transport.sent.isEmpty)
        #expect(await bench.get().response?.statusCode == 200)
        #expect(bench.transport.sent.count == 2)
    }

    @Test("R11 A credential of an exchange plugin is set on each hop to its origin, and on no other", arguments: stacks)
    func redirects(stack: StrangersStack) async throws {
        let origin = try PipelineRequest(url: "https://a.test").origin
        let setter = PluginStack.exchange(name: "setter") { request, context, send in
            guard context.hopOrigin == origin, !context.hasLeftOrigin else { return try await send(request) }
            var request = request
            try request.setHeader("Bearer a", for: .authorization, isSecret: true)
            return try await send(request)
        }
        let places = ["/c", "https://other.test/d", "https://a.test/e"]
        let bench = Bench(stack, authentication: [setter]) { _, index in
            index < places.count ? .status(307, headers: [.location: places[index]]) : .status(200)
        }
        #expect(await bench.get().response?.statusCode == 200)
        #expect(bench.transport.sent.map { $0.headers[.authorization] } == ["Bearer a", "Bearer a", nil, nil])
    }
}
