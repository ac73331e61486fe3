import Foundation
import Pipeline
import PipelineResilience
import PipelineTesting
import TestSupport
import Testing

@Suite("HedgingPlugin: which requests are copied", .tags(.concurrent), .watched)
struct HedgingMethodTests {
    private let clock = ManualClock()

    /// Sends a target to a server whose first response takes 3 s, and later ones none.
    private func send(
        _ target: Ask,
        _ options: RequestOptions = .init(),
        first: Int = 200,
        copy: Int
    ) async throws -> (status: Int, sentCount: Int) {
        let transport = ScriptedTransport { _, index in
            index == 0 ? .delayed(.seconds(3), .status(first)) : .status(copy)
        }
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [HedgingPlugin(after: .fixed(.seconds(1)))],
            configuration: .init(clock: clock)
        )
        let status = try await clock.run { try await provider.request(target, options: options).statusCode }
        return (status, transport.sent.count)
    }

    @Test(
        "V06: methods with effects are copied only with the option",
        arguments: [HTTPRequest.Method.put, .delete, .post]
    )
    func methods(method: HTTPRequest.Method) async throws {
        var target = Ask(method: method, task: .requestData(.init("x".utf8)))
        if method == .post { target.headers = ["Idempotency-Key": "1"] }
        let one = try await send(target, copy: 409)
        #expect(one.status == 200 && one.sentCount == 1)
        let options = RequestOptions { $0.hedging = .fixed(.seconds(1)) }
        let two = try await send(target, options, copy: 201)
        #expect(two.status == 201 && two.sentCount == 2)
    }

    @Test("V06: an error of the client that a copy gets is not the result while the first copy is in flight")
    func refusedCopy() async throws {
        let options = RequestOptions { $0.hedging = .fixed(.seconds(1)) }
        for (method, status) in [(HTTPRequest.Method.delete, 404), (.put, 412), (.get, 404)] {
            let result = try await send(Ask(method: method), options, copy: status)
            #expect(result.status == 200 && result.sentCount == 2)
        }
        // The first copy may get one.
        #expect(try await send(Ask(), options, first: 404, copy: 404).status == 404)
    }

    @Test("V06: a request with a precondition is never copied", arguments: ["If-Match", "If-None-Match", "If-Range"])
    func preconditions(name: String) async throws {
        let options = RequestOptions { $0.hedging = .fixed(.seconds(1)) }
        let result = try await send(Ask(headers: [name: "\"a\""]), options, copy: 412)
        #expect(result.status == 200 && result.sentCount == 1)
    }
}
