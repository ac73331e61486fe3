import Foundation
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineMoya

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

    /// Waits until calls wait for the exchanges that are in progress.
    private func joined<Target>(_ count: Int, _ provider: MoyaProvider<Target>) async {
        await eventually { provider.deduplication?.callerCount == count }
    }

    @Test("M122, M125: equal requests are sent once, and each is counted until its completion has returned")
    func joining() async {
        let gate = Gate()
        let provider = MoyaProvider<PlainTarget>(transport: gate.transport, trackInflights: true)
        async let first = provider.result(of: PlainTarget())
        async let second = provider.result(of: PlainTarget())
        await joined(2, provider)
        #expect(provider.inflightRequests.values.map(\.count) == [2])
        gate.open()
        #expect(await [first.text, second.text] == ["200", "200"])
        #expect(gate.transport.sent.count == 1)
        #expect(await hasEnded(provider))
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

    @Test("M02 Requests are compared after the plugins, so that two users share no response")
    func users() async {
        let gate = Gate()
        let users = Mutex(0)
        let token = AccessTokenPlugin { _ in
            let number = users.withLock { count in
                count += 1
                return count
            }
            return "user \(number)"
        }
        let provider = MoyaProvider<AuthorizedTarget>(
            transport: gate.transport,
            plugins: [token],
            trackInflights: true
        )
        async let first = provider.result(of: AuthorizedTarget(authorizationType: .bearer))
        async let second = provider.result(of: AuthorizedTarget(authorizationType: .bearer))
        await joined(2, provider)
        gate.open()
        #expect(await [first.text, second.text] == ["200", "200"])
        #expect(
            Set(gate.transport.sent.compactMap { $0.headers[.authorization] }) == ["Bearer user 1", "Bearer user 2"]
        )
    }

    @Test("M02 M126: cancelling a request ends that request only, whether it was the first or not", arguments: [0, 1])
    func cancelled(index: Int) async {
        let gate = Gate()
        let provider = MoyaProvider<PlainTarget>(transport: gate.transport, trackInflights: true)
        let results = CallLog()
        var tokens: [any PipelineMoya.Cancellable] = []
        for number in 0...1 {
            tokens.append(provider.request(PlainTarget()) { results.add("\(number): \($0.text)") })
            await joined(number + 1, provider)
        }
        tokens[index].cancel()
        await joined(1, provider)
        gate.open()
        #expect(await hasEnded(provider))
        #expect(Set(results.entries) == ["\(index): cancelled", "\(1 - index): 200"])
        #expect(gate.transport.sent.count == 1)
    }

    @Test(
        "M02 M127: requests with a method other than GET and HEAD are sent separately",
        arguments: [.post, .delete] as [Moya.Method]
    )
    func unsafe(method: Moya.Method) async {
        let transport = ScriptedTransport(always: .status(200))
        let provider = MoyaProvider<PlainTarget>(transport: transport, trackInflights: true)
        async let first = provider.result(of: PlainTarget(method: method))
        async let second = provider.result(of: PlainTarget(method: method))
        #expect(await [first.text, second.text] == ["200", "200"])
        #expect(transport.sent.count == 2)
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

    /// Waits until no request is in progress, because a request is removed after its completion has returned.
    private func hasEnded(_ provider: MoyaProvider<PlainTarget>) async -> Bool {
        await eventually { provider.inflightRequests.isEmpty }
        return provider.inflightRequests.isEmpty
    }
}
