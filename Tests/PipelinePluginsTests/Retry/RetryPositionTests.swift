import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("RetryPlugin: position", .watched)
struct RetryPositionTests {
    private static func token() -> AccessTokenPlugin {
        let count = Atomic(0)
        return AccessTokenPlugin { _ in "t\(count.add(1, ordering: .relaxed).newValue)" }
    }

    @Test("Outside an authorizing plugin each attempt gets a fresh token; inside it, the first one")
    func token() async {
        let steps: [ScriptedTransport.Step] = [.status(503), .status(200)]
        let target = Ask(authorizationType: .bearer)
        let outside = RetryBench(steps, [RetryPlugin(), Self.token()])
        _ = await outside.outcome(target)
        #expect(outside.transport.sent.map { $0.headers[.authorization] } == ["Bearer t1", "Bearer t2"])
        #expect(outside.provider.explain().findings.isEmpty)
        let inside = RetryBench(steps, [Self.token(), RetryPlugin()])
        _ = await inside.outcome(target)
        #expect(inside.transport.sent.map { $0.headers[.authorization] } == ["Bearer t1", "Bearer t1"])
        let findings = inside.provider.explain().findings.map(\.message)
        #expect(findings.count == 1)
        #expect(
            findings.first?.hasPrefix("RetryPlugin is inside AccessTokenPlugin: every attempt is sent with") == true
        )
    }

    @Test("Outside a decoding plugin a policy sees the decoded body; inside it, the encoded one")
    func decoding() async {
        let decoder = PluginStack.process { result, _ in
            guard case .success(var response) = result else { return }
            response.body = .bytes(Data("again".utf8))
            result = .success(response)
        }
        let policy = RetryPolicy { $0.response?.data == Data("again".utf8) ? .retry : nil }
        let steps = Array(repeating: ScriptedTransport.Step.status(200, body: "coded"), count: 3)
        let outside = RetryBench(steps, [RetryPlugin(policy: policy), decoder])
        _ = await outside.outcome()
        #expect(outside.transport.sent.count == 3)
        let inside = RetryBench(steps, [decoder, RetryPlugin(policy: policy)])
        _ = await inside.outcome()
        #expect(inside.transport.sent.count == 1)
    }

    @Test("T06 An outer plugin sees all attempts and waits as one call")
    func wholeCall() async {
        let runs = Mutex<[Duration]>([])
        let outside = PluginStack.intercept { request, context, next in
            let start = context.clock.now
            let response = try await next(request)
            runs.withLock { $0.append(start.duration(to: context.clock.now)) }
            return response
        }
        let retry = RetryPlugin(backoff: .constant(.seconds(2)))
        let bench = RetryBench([.status(503), .status(503), .status(200)], [outside, retry])
        _ = await bench.outcome()
        #expect(runs.withLock { $0 } == [.seconds(4)])
        let within = RetryBench([.status(503), .status(503), .status(200)], [retry, outside])
        _ = await within.outcome()
        #expect(runs.withLock { $0 } == [.seconds(4), .zero, .zero, .zero])
    }

    @Test("An outer RetryPlugin repeats all attempts of an inner one, and the stack reports it")
    func two() async {
        let bench = RetryBench(
            ScriptedTransport(always: .status(503)),
            [RetryPlugin(), RetryPlugin(maximumAttempts: 2)]
        )
        let outcome = await bench.outcome()
        #expect(outcome.exchanges.count == 6)
        let findings = bench.provider.explain().findings.map(\.message)
        #expect(findings.count == 1)
        #expect(findings.first?.hasPrefix("RetryPlugin is used twice: each attempt of the outer plugin") == true)
    }

    @Test("Alone, or next to a plugin that shares calls, RetryPlugin has no findings")
    func fine() {
        let shared = PluginStack.intercept(name: "DeduplicationPlugin") { request, _, next in
            try await next(request)
        }
        #expect(RetryBench([], [RetryPlugin()]).provider.explain().findings.isEmpty)
        #expect(RetryBench([], [shared, RetryPlugin()]).provider.explain().findings.isEmpty)
        #expect(RetryBench([], [RetryPlugin(), shared]).provider.explain().findings.isEmpty)
    }
}
