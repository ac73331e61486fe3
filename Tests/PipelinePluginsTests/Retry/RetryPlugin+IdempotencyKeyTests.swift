import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("RetryPlugin: idempotency keys", .watched)
struct RetryPluginIdempotencyKeyTests {
    private static func fields(
        _ key: RetryPlugin.IdempotencyKey?,
        _ target: Ask = Ask(method: .post),
        calls: Int = 1
    ) async -> [[String]] {
        let bench = RetryBench(ScriptedTransport(always: .status(503)))
        for _ in 0..<calls { _ = await bench.outcome(target, .init { $0.idempotencyKey = key }) }
        return bench.transport.sent.map { $0.headers[values: .key] }
    }

    @Test("T04 A generated key is a quoted UUID, the same for all attempts and new for each call")
    func generated() async throws {
        let fields = await Self.fields(.generated, calls: 2)
        #expect(fields.count == 6)
        #expect(Set(fields[..<3]).count == 1)
        #expect(Set(fields[3...]).count == 1)
        #expect(fields[0] != fields[3])
        let value = try #require(fields[0].first)
        #expect(
            try value.wholeMatch(of: Regex(#""[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}""#))
                != nil
        )
        // The key comes from the provider's random numbers, so it is the same in each run.
        #expect(await Self.fields(.generated)[0] == fields[0])
    }

    @Test(
        "A given key is sent as an RFC 9651 string, or verbatim if unquoted",
        arguments: [
            (RetryPlugin.IdempotencyKey("order 7"), "\"order 7\""), (.init("a\"b\\c"), #""a\"b\\c""#),
            (.init("order-7").unquoted, "order-7"), (.init("a\"b").unquoted, "a\"b"),
        ]
    )
    func given(key: RetryPlugin.IdempotencyKey, value: String) async {
        #expect(await Self.fields(key) == [[value], [value], [value]])
    }

    @Test("T04 A generated key is the same if a plugin outside repeats the request")
    func repeated() async throws {
        let again = PluginStack.intercept { request, _, next in
            _ = try await next(request)
            return try await next(request)
        }
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<Ask>(transport: transport, plugins: [again, RetryPlugin()])
        _ = try await provider.request(Ask(method: .post), options: .init { $0.idempotencyKey = .generated })
        let keys = transport.sent.map { $0.headers[values: .key] }
        #expect(keys.count == 2 && keys[0].count == 1 && keys[0] == keys[1])
    }

    @Test("A generated key can be sent without quotes")
    func unquoted() async throws {
        let value = try #require(await Self.fields(.generated.unquoted).first?.first)
        #expect(UUID(uuidString: value) != nil)
    }

    @Test("An existing field stays, and an empty one is replaced")
    func present() async {
        let named = Ask(method: .post, headers: ["Idempotency-Key": "own"])
        #expect(await Self.fields(.generated, named) == [["own"], ["own"], ["own"]])
        let empty = Ask(method: .post, headers: ["Idempotency-Key": ""])
        #expect(await Self.fields(.init("k"), empty) == [["\"k\""], ["\"k\""], ["\"k\""]])
    }

    @Test("Without the option no field is set; with it, the retry can still be disabled")
    func optional() async {
        #expect(await Self.fields(nil, Ask()) == [[], [], []])
        let bench = RetryBench([.status(503)])
        let options = RequestOptions {
            $0.idempotencyKey = .init("k")
            $0.retry = .never
        }
        _ = await bench.outcome(Ask(method: .post), options)
        #expect(bench.transport.sent.map { $0.headers[.key] } == ["\"k\""])
    }

    @Test("A redirect to another origin keeps the key")
    func redirect() async {
        let bench = RetryBench([.status(307, headers: [.location: "https://b.test/"]), .status(200)])
        _ = await bench.outcome(Ask(method: .post), .init { $0.idempotencyKey = .init("k") })
        #expect(bench.transport.sent.map { $0.headers[.key] } == ["\"k\"", "\"k\""])
    }

    @Test(
        "A key that cannot be sent throws a typed error that does not reveal the key",
        arguments: [
            RetryPlugin.IdempotencyKey(""), .init("CANARY\r\nX: y"), .init("CANARY\u{7f}"), .init("CANARYé"),
            .init("").unquoted, .init(" CANARY").unquoted,
        ]
    )
    func refused(key: RetryPlugin.IdempotencyKey) async {
        let bench = RetryBench([.status(200)])
        let outcome = await bench.outcome(Ask(method: .post), .init { $0.idempotencyKey = key })
        #expect(outcome.text == "invalidRequest.headerValue")
        #expect(outcome.error?.description.contains("CANARY") == false)
        #expect(bench.transport.sent.isEmpty)
    }
}
