import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("RetryPolicy", .watched)
struct RetryPolicyTests {
    private static func count(
        _ policy: RetryPolicy,
        _ step: ScriptedTransport.Step,
        _ method: HTTPRequest.Method = .get
    ) async -> Int {
        let bench = RetryBench(ScriptedTransport(always: step), [RetryPlugin(policy: policy, backoff: .immediate)])
        _ = await bench.outcome(Ask(method: method))
        return bench.transport.sent.count
    }

    @Test("A policy retries only the statuses that it lists")
    func statuses() async {
        let policy = RetryPolicy(statusCodes: [404, 200])
        #expect(await Self.count(policy, .status(404)) == 3)
        #expect(await Self.count(policy, .status(200)) == 3)
        #expect(await Self.count(policy, .status(503)) == 1)
        #expect(await Self.count(policy, .failure(.connectionLost)) == 3)
    }

    @Test("Other methods can be opted in, and idempotent ones out")
    func methods() async {
        let policy = RetryPolicy(methods: [.post])
        #expect(await Self.count(policy, .status(503), .post) == 3)
        #expect(await Self.count(policy, .failure(.connectionLost), .post) == 3)
        #expect(await Self.count(policy, .status(503), .get) == 1)
        #expect(await Self.count(policy, .failure(.connect(.refused)), .get) == 3)
    }

    @Test("A closure can decide by the body of a response with any status")
    func body() async {
        let policy = RetryPolicy { outcome in
            guard let text = try? outcome.response?.mapString() else { return nil }
            return text == "busy" ? .retry : text == "broken" ? .giveBack : nil
        }
        #expect(await Self.count(policy, .status(200, body: "busy")) == 3)
        #expect(await Self.count(policy, .status(200, body: "fine")) == 1)
        #expect(await Self.count(policy, .status(503, body: "broken")) == 1)
        #expect(await Self.count(policy, .status(503, body: "fine")) == 3)
    }

    @Test("A closure's .retry still needs a retryable method; its .retryUnprocessed does not")
    func closureAndMethod() async {
        let retry = RetryPolicy { _ in .retry }
        #expect(await Self.count(retry, .status(400), .get) == 3)
        #expect(await Self.count(retry, .status(400), .post) == 1)
        #expect(await Self.count(retry, .failure(.connect(.refused)), .post) == 1)
        let unprocessed = RetryPolicy { _ in .retryUnprocessed }
        #expect(await Self.count(unprocessed, .status(400), .post) == 3)
    }

    @Test("A closure can retry a failure that is final by default")
    func closureAndFailure() async {
        let policy = RetryPolicy { $0.error?.code == .malformedResponse ? .retry : nil }
        #expect(await Self.count(policy, .failure(.malformedResponse)) == 3)
        #expect(await Self.count(policy, .failure(.transport)) == 1)
    }

    @Test(
        "C04: TLS failures, the total timeout and cancellation are final, whatever the closure returns",
        arguments: [
            PipelineError.Code.tls(.certificate), .tls(.hostName), .tls(.handshake), .timeout(.total), .cancelled,
        ]
    )
    func final(code: PipelineError.Code) async {
        #expect(await Self.count(RetryPolicy { _ in .retryUnprocessed }, .failure(code)) == 1)
    }

    @Test("The closure sees the request, the outcome, the attempt number and whether anything was sent")
    func outcome() async {
        let bench = RetryBench([
            .failure(.connect(.refused)), .status(503), .failure(PipelineError(.plugin, "x")), .status(200),
        ])
        let seen = LockedList<String>()
        let policy = RetryPolicy { outcome in
            let result = outcome.response.map { "\($0.statusCode)" } ?? outcome.error?.code.rawValue ?? ""
            seen.append("\(outcome.attempt) \(outcome.request.method) \(result) \(outcome.wasSent)")
            return .retry
        }
        let options = RequestOptions {
            $0.retry = .init(maximumAttempts: 4, policy: policy, backoff: .immediate)
        }
        _ = await bench.outcome(Ask(), options)
        #expect(seen.all == ["1 GET connect.refused false", "2 GET 503 true", "3 GET plugin true", "4 GET 200 true"])
    }

    @Test("The outcome of a failure with a response has that response and its Retry-After")
    func responseOfFailure() async {
        let refuse = PluginStack.process { result, _ in
            guard case .success(let response) = result, response.statusCode == 503 else { return }
            result = .failure(PipelineError(.unacceptableStatus, "no", response: response))
        }
        let policy = RetryPolicy { $0.response?.statusCode == 503 ? .retry : nil }
        let bench = RetryBench(
            [.status(503, headers: [.retryAfter: "7"]), .status(200)],
            [RetryPlugin(policy: policy), refuse]
        )
        #expect(await bench.outcome().text == "200")
        #expect(bench.clock.waits == [.seconds(7)])
    }

    @Test("A failure before a connection is established proves that nothing was sent")
    func provesNothingSent() {
        let unsent: [PipelineError.Code] = [
            .offline, .dns, .tls(.handshake), .connect(.refused), .timeout(.connect), .timeout(.pool),
            .proxy(.refused),
        ]
        let sent: [PipelineError.Code] = [
            .timeout(.head), .timeout(.attempt), .timeout(.idle), .connectionLost, .transport,
        ]
        #expect(unsent.filter(\.provesNothingSent) == unsent)
        #expect(sent.filter(\.provesNothingSent) == [])
    }
}
