import Foundation
import PipelineMoya
import PipelineTesting
import TestSupport
import Testing

@Suite("Requests of MoyaProvider in progress", .tags(.concurrent), .watched) struct MoyaInflightTests {
    /// A transport whose responses begin when the gate opens.
    private struct Gate {
        let transport: ScriptedTransport
        let open: () -> Void

        init() {
            let (gate, opening) = AsyncStream<Never>.makeStream()
            transport = ScriptedTransport(
                always: .answer { request, _ in
                    for await _ in gate {}
                    return .init(request: request, statusCode: 200)
                }
            )
            open = { opening.finish() }
        }
    }

    @Test("M122, M125: equal requests are sent once, complete in order, and are counted until the last completion")
    func joining() async {
        let gate = Gate()
        let provider = MoyaProvider<PlainTarget>(transport: gate.transport, trackInflights: true)
        let log = CallLog()
        await withCheckedContinuation { continuation in
            provider.request(PlainTarget()) { _ in log.add("first, \(provider.inflightRequests.count) in progress") }
            provider.request(PlainTarget()) { _ in
                log.add("second, \(provider.inflightRequests.count) in progress")
                DispatchQueue.main.async { continuation.resume() }
            }
            #expect(provider.inflightRequests.values.map(\.count) == [2])
            gate.open()
        }
        #expect(log.entries == ["first, 1 in progress", "second, 1 in progress"])
        #expect(gate.transport.sent.count == 1)
        #expect(provider.inflightRequests.isEmpty)
    }

    @Test("M122: without tracking, equal requests are sent separately")
    func withoutTracking() async {
        let transport = ScriptedTransport(always: .status(200))
        let provider = MoyaProvider<PlainTarget>(transport: transport)
        async let first = provider.result(of: PlainTarget())
        async let second = provider.result(of: PlainTarget())
        _ = await (first, second)
        #expect(transport.sent.count == 2)
        #expect(provider.inflightRequests.isEmpty)
    }

    @Test("M123: requests that differ in a header field are sent separately")
    func differentRequests() async {
        let transport = ScriptedTransport(always: .status(200))
        let provider = MoyaProvider<PlainTarget>(transport: transport, trackInflights: true)
        async let first = provider.result(of: PlainTarget(headers: ["A": "1"]))
        async let second = provider.result(of: PlainTarget(headers: ["A": "2"]))
        _ = await (first, second)
        #expect(transport.sent.count == 2)
    }

    @Test("M126: cancelling a request that has joined another does nothing")
    func cancelledJoiner() async {
        let gate = Gate()
        let provider = MoyaProvider<PlainTarget>(transport: gate.transport, trackInflights: true)
        let result: Result<Response, MoyaError> = await withCheckedContinuation { continuation in
            provider.request(PlainTarget()) { _ in }
            provider.request(PlainTarget()) { continuation.resume(returning: $0) }.cancel()
            gate.open()
        }
        #expect(result.text == "200")
    }

    @Test("M126: cancelling the first request fails all that have joined it")
    func cancelledLeader() async {
        let transport = ScriptedTransport(always: .hang)
        let provider = MoyaProvider<PlainTarget>(transport: transport, trackInflights: true)
        let result: Result<Response, MoyaError> = await withCheckedContinuation { continuation in
            let first = provider.request(PlainTarget()) { _ in }
            provider.request(PlainTarget()) { continuation.resume(returning: $0) }
            first.cancel()
        }
        #expect(result.text == "URLError -999")
    }

    @Test("M127: requests with a body are joined, too")
    func posts() async {
        let gate = Gate()
        let provider = MoyaProvider<PlainTarget>(transport: gate.transport, trackInflights: true)
        let target = PlainTarget(
            method: .post,
            task: .requestParameters(
                parameters: ["b": 1, "a": [1, 2], "c": ["d": true]],
                encoding: JSONEncoding.default
            )
        )
        await withCheckedContinuation { continuation in
            provider.request(target) { _ in }
            provider.request(target) { _ in continuation.resume() }
            gate.open()
        }
        #expect(gate.transport.sent.count == 1)
    }

    @Test("A request closure that fails ends the tracking, so that a later request is sent")
    func failingRequestClosure() async {
        let provider = MoyaProvider<PlainTarget>(
            requestClosure: { _, done in done(.failure(.requestMapping("nowhere"))) },
            trackInflights: true
        )
        #expect(await provider.result(of: PlainTarget()).text == "requestMapping")
        #expect(await provider.result(of: PlainTarget()).text == "requestMapping")
        #expect(await hasEnded(provider))
    }

    @Test("A request made from a completion of an equal request completes")
    func reentrantRequest() async {
        let provider = MoyaProvider<PlainTarget>(
            transport: ScriptedTransport(always: .status(200)),
            trackInflights: true
        )
        let result: Result<Response, MoyaError> = await withCheckedContinuation { continuation in
            provider.request(PlainTarget()) { _ in
                provider.request(PlainTarget()) { continuation.resume(returning: $0) }
            }
        }
        #expect(result.text == "200")
        #expect(await hasEnded(provider))
    }

    /// Waits until no request is in progress, because a request is removed after its completions have returned.
    private func hasEnded(_ provider: MoyaProvider<PlainTarget>) async -> Bool {
        for _ in 0..<100_000 where !provider.inflightRequests.isEmpty { await _Concurrency.Task.yield() }
        return provider.inflightRequests.isEmpty
    }
}
