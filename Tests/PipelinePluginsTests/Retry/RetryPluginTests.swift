import Foundation
import Pipeline
import PipelineAuth
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("RetryPlugin", .tags(.concurrent), .watched)
struct RetryPluginTests {
    private static let always = RetryPlugin(backoff: .immediate, budget: .unlimited)

    @Test("The plugin passes the conformance suite")
    func conformance() async {
        let violations = await PluginConformance { RetryPlugin() }.run()
        #expect(violations == [])
    }

    // MARK: Effects: when

    @Test(
        "By default 408, 429, 500, 502, 503 and 504 are retried, and no other statuses",
        arguments: [
            (408, 2), (429, 2), (500, 2), (502, 2), (503, 2), (504, 2), (200, 1), (204, 1), (304, 1), (400, 1),
            (401, 1),
            (404, 1), (409, 1), (425, 1), (501, 1), (505, 1), (599, 1),
        ]
    )
    func statuses(status: Int, count: Int) async {
        let bench = RetryBench([.status(status), .status(200)])
        let outcome = await bench.outcome()
        #expect(bench.transport.sent.count == count)
        #expect(outcome.text == (count == 2 ? "200" : "\(status)"))
        #expect(outcome.refusal == nil)
    }

    @Test(
        "C01 C02 C04 C05 C07 By default a failure is retried if it is transient and a retry is safe",
        arguments: [
            // code, of GET, of POST
            (PipelineError.Code.connect(.refused), 2, 2), (.connect(.unreachable), 2, 2),
            (.dns, 2, 2),
            (.offline, 2, 2), (.timeout(.connect), 2, 2), (.connectionLost, 2, 1), (.truncated, 2, 1),
            (.timeout(.attempt), 2, 1), (.timeout(.idle), 2, 1), (.timeout(.head), 2, 1), (.timeout(.write), 2, 1),
            (.timeout(.total), 1, 1), (.timeout(.tokenRefresh), 1, 1),
            (.timeout(.init(rawValue: "signing")), 1, 1),
            (.tls(.handshake), 1, 1), (.malformedResponse, 1, 1), (.transport, 1, 1),
            (.contentCoding(.corrupt), 1, 1), (.limit(.bodyBytes), 1, 1), (.limit(.headerBytes), 1, 1), (.plugin, 1, 1),
            (.invalidRequest(.body), 1, 1), (.encoding, 1, 1), (.mapping(.json), 1, 1), (.bodyConsumed, 1, 1),
            (.file(.unreadable), 1, 1), (.redirect(.loop), 1, 1), (.unacceptableStatus, 1, 1),
        ]
    )
    func failures(code: PipelineError.Code, ofGet: Int, ofPost: Int) async {
        for (method, count) in [(HTTPRequest.Method.get, ofGet), (.post, ofPost)] {
            let bench = RetryBench([.failure(code), .status(200)])
            let outcome = await bench.outcome(Ask(method: method))
            #expect(bench.transport.sent.count == count, "\(method)")
            #expect(outcome.text == (count == 2 ? "200" : code.rawValue))
        }
    }

    @Test("When the exchange limit of a call is reached, the last outcome is returned")
    func exchangeLimit() async throws {
        let transport = ScriptedTransport(always: .status(503))
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [RetryPlugin(maximumAttempts: 10, backoff: .immediate)],
            configuration: .init(limits: ProviderConfiguration.Limits(exchangeCount: 3), clock: JumpingClock())
        )
        let response = try await provider.request(Ask())
        #expect(response.statusCode == 503)
        #expect(response.exchanges.last?.refusedRetry == .attemptsUsedUp)
        #expect(transport.sent.count == 3)
    }

    @Test("A cancelled call is not retried and throws CancellationError")
    func cancelled() async {
        let bench = RetryBench([.failure(CancellationError()), .status(200)])
        #expect(await bench.outcome().text == "CancellationError")
        #expect(bench.transport.sent.count == 1)
        let coded = RetryBench([.failure(.cancelled), .status(200)])
        #expect(await coded.outcome().text == "CancellationError")
        #expect(coded.transport.sent.count == 1)
    }

    @Test(
        "By default only idempotent methods are retried",
        arguments: [
            ("GET", 2), ("HEAD", 2), ("OPTIONS", 2), ("TRACE", 2), ("PUT", 2), ("DELETE", 2), ("QUERY", 2), ("POST", 1),
            ("PATCH", 1), ("get", 1), ("FROB", 1),
        ]
    )
    func methods(name: String, count: Int) async throws {
        let bench = RetryBench([.status(503), .status(200)])
        let outcome = await bench.outcome(Ask(method: try #require(HTTPRequest.Method(name))))
        #expect(bench.transport.sent.count == count)
        #expect(outcome.refusal == (count == 1 ? .methodNotIdempotent : nil))
    }

    @Test(
        "T04 A POST that was sent is retried only with an Idempotency-Key, the same in each attempt",
        arguments: [ScriptedTransport.Step.status(503), .failure(.connectionLost), .failure(.timeout(.attempt))]
    )
    func keyed(step: ScriptedTransport.Step) async {
        let without = RetryBench([step, .status(200)])
        let refusal = await without.outcome(Ask(method: .post)).refusal
        #expect(refusal == .methodNotIdempotent)
        #expect(without.transport.sent.count == 1)
        let bench = RetryBench([step, step, .status(200)])
        #expect(await bench.outcome(Ask(method: .post, headers: ["idempotency-key": "k"])).text == "200")
        #expect(bench.transport.sent.map { $0.headers[.key] } == ["k", "k", "k"])
    }

    @Test("An empty Idempotency-Key field does not allow a POST to be retried")
    func emptyKey() async {
        let bench = RetryBench([.status(503), .status(200)])
        #expect(await bench.outcome(Ask(method: .post, headers: ["Idempotency-Key": ""])).text == "503")
    }

    @Test("A redirected POST is not retried if the next host cannot be reached")
    func unsentAfterRedirect() async {
        for status in [303, 307] {
            let steps: [ScriptedTransport.Step] = [
                .status(status, headers: [.location: "https://b.test/"]), .failure(.connect(.refused)), .status(200),
            ]
            let post = RetryBench(steps)
            let outcome = await post.outcome(Ask(method: .post))
            #expect(post.transport.sent.count == 2)
            #expect(outcome.refusal == .methodNotIdempotent)
            #expect(outcome.text == "connect.refused")
            let get = RetryBench(steps)
            #expect(await get.outcome().text == "200")
        }
    }

    @Test("Whether a request was sent is judged per attempt, whatever earlier attempts did")
    func unsentLater() async {
        let bench = RetryBench([.failure(.connect(.refused)), .failure(.dns), .status(200)])
        #expect(await bench.outcome(Ask(method: .post)).text == "200")
        let lost = RetryBench([.failure(.connect(.refused)), .failure(.connectionLost), .status(200)])
        let outcome = await lost.outcome(Ask(method: .post))
        #expect(outcome.text == "connectionLost")
        #expect(lost.transport.sent.count == 2)
        // The policy lets the first be retried although it was sent; the second still counts as not sent.
        let once = RetryPolicy { $0.attempt == 1 ? .retryUnprocessed : nil }
        let later = RetryBench([.status(503), .failure(.connect(.refused)), .status(200)], [RetryPlugin(policy: once)])
        #expect(await later.outcome(Ask(method: .post)).text == "200")
    }

    @Test("An inner plugin's failure before anything is sent is judged by its code")
    func insideWithoutExchange() async {
        let count = Atomic(0)
        let plugin = PluginStack.prepare { _, _ in
            if count.add(1, ordering: .relaxed).newValue == 1 { throw PipelineError(.dns, "of another call") }
        }
        let bench = RetryBench([.status(200)], [RetryPlugin(), plugin])
        #expect(await bench.outcome(Ask(method: .post)).text == "200")
    }

    @Test("T09 An inner plugin's timeout before anything is sent is not retried, whatever its phase")
    func timeoutWithoutExchange() async {
        for code in [PipelineError.Code.timeout(.idle), .timeout(.attempt), .timeout(.init(rawValue: "signing"))] {
            let count = Atomic(0)
            let sign = PluginStack.prepare { _, _ in
                if count.add(1, ordering: .relaxed).newValue == 1 { throw PipelineError(code, "signing took too long") }
            }
            let retry = RetryPlugin(budget: RetryBudget(ratio: 0, minimumPerSecond: 0.1))
            let bench = RetryBench([.status(503), .status(200)], [retry, sign])
            #expect(await bench.outcome().text == code.rawValue)
            #expect(bench.transport.sent.isEmpty)
            #expect(await bench.outcome().text == "200")
        }
    }

    @Test("T09 A timeout waiting for a free connection is not retried and takes nothing from the budget")
    func busyPool() async {
        let bench = RetryBench(
            [.failure(.timeout(.pool)), .status(503), .status(200)],
            [RetryPlugin(budget: RetryBudget(ratio: 0, minimumPerSecond: 0.1))]
        )
        #expect(await bench.outcome().text == "timeout.pool")
        #expect(bench.transport.sent.count == 1)
        #expect(await bench.outcome().text == "200")
    }

    // MARK: Effects: the body

    private static func once(_ text: String) -> PipelineBody {
        .stream(
            AsyncStream { continuation in
                continuation.yield(Data(text.utf8))
                continuation.finish()
            }
        )
    }

    private static func reading(_ step: ScriptedTransport.Step) -> ScriptedTransport.Step {
        .answer { request, context in
            _ = try await request.body.collect(upTo: 100)
            let transport = ScriptedTransport([step])
            return try await transport.send(request, context: context)
        }
    }

    @Test("T05 A request stream that was read is not retried, and the error says why", arguments: [true, false])
    func oneShot(isStatus: Bool) async {
        let step = Self.reading(isStatus ? .status(503) : .failure(.connectionLost))
        let bench = RetryBench([step, .status(200)])
        let target = Ask(method: .put, task: .requestStream(Self.once("x")), validationType: .successCodes)
        let outcome = await bench.outcome(target)
        #expect(outcome.text == (isStatus ? "unacceptableStatus" : "connectionLost"))
        #expect(outcome.refusal == .bodyNotReplayable)
        #expect(outcome.error?.description.contains("; not retried: bodyNotReplayable") == true)
        #expect(bench.transport.sent.count == 1)
    }

    @Test("T05 A request stream that was not read is retried")
    func unreadOneShot() async throws {
        let bench = RetryBench([.failure(.connect(.refused)), Self.reading(.status(200))])
        #expect(await bench.outcome(Ask(method: .post, task: .requestStream(Self.once("x")))).text == "200")
        #expect(bench.transport.sent.count == 2)
    }

    @Test("A retry sends bytes and replayable streams in full")
    func replayed() async {
        for body in [PipelineBody.bytes(Data("abc".utf8)), .stream(replaying: { Self.once("abc").chunks() })] {
            let read = Mutex<[String]>([])
            let step = ScriptedTransport.Step.answer { request, _ in
                let text = String(decoding: try await request.body.collect(upTo: 10), as: UTF8.self)
                let count = read.withLock {
                    $0.append(text)
                    return $0.count
                }
                return PipelineResponse(request: request, statusCode: count < 3 ? 503 : 200)
            }
            let bench = RetryBench(ScriptedTransport(always: step))
            #expect(await bench.outcome(Ask(method: .put, task: .requestStream(body))).text == "200")
            #expect(read.withLock { $0 } == ["abc", "abc", "abc"])
        }
    }

    // MARK: Effects: attempts and outcome

    @Test("The call ends with the last attempt's outcome and the exchanges of all attempts")
    func last() async throws {
        let steps: [ScriptedTransport.Step] = [.status(503), .failure(.connectionLost), .status(500, body: "last")]
        let bench = RetryBench(steps)
        let response = try await bench.provider.request(Ask())
        #expect(response.statusCode == 500)
        #expect(try response.mapString() == "last")
        #expect(response.exchanges.map(\.statusCode) == [503, nil, 500])
        #expect(response.exchanges.map(\.failure) == [nil, .connectionLost, nil])
        let failing = RetryBench([.status(503), .status(500), .failure(.connectionLost)])
        let outcome = await failing.outcome()
        #expect(outcome.text == "connectionLost")
        #expect(
            outcome.error?.description
                == "connectionLost: by script; GET a.test/b; target Ask; exchanges: 503, 500, connectionLost; "
                + "gave up after 3 attempts"
        )
    }

    @Test("A retry sends the request unchanged, and inner plugins prepare it anew")
    func unchanged() async {
        let count = Atomic(0)
        let number = PluginStack.prepare { request, _ in
            request.headers[.from] = "\(count.add(1, ordering: .relaxed).newValue)"
        }
        let bench = RetryBench([.status(503), .status(503), .status(200)], [RetryPlugin(), number])
        _ = await bench.outcome(Ask(method: .put, task: .requestData(Data("x".utf8)), headers: ["Accept": "a"]))
        let sent = bench.transport.sent
        #expect(sent.map { $0.headers[.from] } == ["1", "2", "3"])
        #expect(sent.allSatisfy { $0.headers[.accept] == "a" && $0.body.bytes == Data("x".utf8) && $0.method == .put })
        #expect(Set(sent.map(\.description)).count == 1)
    }

    @Test("Both outer plugins and the caller see why a retry was refused")
    func refusalOutside() async {
        let seen = Mutex<[PipelineExchange.RetryRefusal?]>([])
        let outside = PluginStack.process { result, _ in
            let exchanges = (try? result.get().exchanges) ?? []
            seen.withLock { $0.append(exchanges.last?.refusedRetry) }
        }
        let bench = RetryBench(ScriptedTransport(always: .status(503)), [outside, RetryPlugin()])
        let outcome = await bench.outcome()
        #expect(seen.withLock { $0 } == [.attemptsUsedUp])
        #expect(outcome.exchanges.map(\.refusedRetry) == [nil, nil, .attemptsUsedUp])
    }

    @Test("A response without its own exchange marks no earlier exchange")
    func refusalWithoutExchange() async {
        let count = Atomic(0)
        let cache = PluginStack.intercept { request, _, next in
            guard count.add(1, ordering: .relaxed).newValue > 1 else { return try await next(request) }
            return PipelineResponse(request: request, statusCode: 503)
        }
        let bench = RetryBench([.status(503)], [RetryPlugin(maximumAttempts: 2), cache])
        let outcome = await bench.outcome()
        #expect(outcome.text == "503")
        #expect(outcome.exchanges.map(\.refusedRetry) == [nil])
    }

    // MARK: Errors

    @Test("Concurrent calls retry independently")
    func concurrent() async {
        let transport = ScriptedTransport { request, _ in
            request.path == "/good" ? .status(200) : .status(503)
        }
        let bench = RetryBench(transport, [Self.always])
        await withTaskGroup(of: Bool.self) { group in
            for index in 0..<200 {
                group.addTask {
                    let outcome = await bench.outcome(Ask(path: index.isMultiple(of: 2) ? "/good" : "/bad"))
                    return outcome.attempts == (index.isMultiple(of: 2) ? [1] : [1, 2, 3])
                }
            }
            for await isRight in group { #expect(isRight) }
        }
        #expect(transport.sent.count == 400)
    }
}
