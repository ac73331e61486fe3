import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Stages: rules 1 to 5", .watched)
struct StageOrderTests {
    private let journal = Journal()

    private func layer(_ name: String, error: (any Error)? = nil) -> Layer {
        Layer(name: name, journal: journal, error: error)
    }

    @Test("Rule 1: for plugins A, B, C prepare runs A, B, C and process runs C, B, A")
    func onion() async throws {
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [layer("A"), layer("B"), layer("C")]
        )
        _ = try await provider.request(TestTarget())
        #expect(
            journal.entries == ["A.prepare", "B.prepare", "C.prepare", "C.process", "B.process", "A.process"]
        )
    }

    @Test("Rule 2: an interceptor wraps every later plugin and the wire")
    func interceptorWraps() async throws {
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport { [journal] _, _ in
                journal.add("wire")
                return .status(200)
            },
            plugins: [layer("A"), Wrapper(name: "W", journal: journal), layer("B")]
        )
        _ = try await provider.request(TestTarget())
        #expect(
            journal.entries == [
                "A.prepare", "W.prepare", "W.in", "B.prepare", "wire", "B.process", "W.out", "W.process", "A.process",
            ]
        )
    }

    @Test("Rule 2: an interceptor that does not call next responds without the network")
    func interceptorAnswers() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [layer("A"), Wrapper(name: "W", journal: journal, passes: 0), layer("B")]
        )
        let response = try await provider.request(TestTarget())
        #expect(response.statusCode == 299)
        #expect(response.exchanges.isEmpty)
        #expect(transport.sent.isEmpty)
        #expect(journal.entries == ["A.prepare", "W.prepare", "W.in", "W.out", "W.process", "A.process"])
    }

    @Test("Rule 2: later plugins prepare and process once per call of next, earlier ones once per call")
    func interceptorRepeats() async throws {
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport([.status(503), .status(200)]),
            plugins: [layer("A"), Wrapper(name: "W", journal: journal, passes: 2), layer("B")]
        )
        let response = try await provider.request(TestTarget())
        #expect(response.statusCode == 200)
        #expect(
            journal.entries == [
                "A.prepare", "W.prepare", "W.in", "B.prepare", "B.process", "B.prepare", "B.process", "W.out",
                "W.process", "A.process",
            ]
        )
        #expect(response.exchanges.map(\.statusCode) == [503, 200])
        #expect(response.exchanges.map(\.attempt) == [1, 2])
    }

    @Test("Rule 2: nested interceptors that retry give each pass its own attempt")
    func nestedAttempts() async throws {
        let attempts = Journal()
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [
                Wrapper(name: "outer", journal: journal, passes: 2),
                Wrapper(name: "inner", journal: journal, passes: 2),
                .prepare { _, context in attempts.add("\(context.attempt)") },
            ]
        )
        _ = try await provider.request(TestTarget())
        #expect(attempts.entries == ["1", "2", "3", "4"])
    }

    @Test("Rule 2 (P03): next may be called 100 times")
    func nextManyTimes() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [Wrapper(name: "W", journal: journal, passes: 100)]
        )
        _ = try await provider.request(TestTarget())
        #expect(transport.sent.count == 100)
    }

    @Test("Rule 2 (P03): next may be called concurrently, even around other interceptors")
    func nextConcurrently() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [
                .intercept { request, _, next in
                    try await withThrowingTaskGroup(of: PipelineResponse.self) { group in
                        for _ in 0..<8 { group.addTask { try await next(request) } }
                        var last = PipelineResponse(request: request, statusCode: 299)
                        for try await response in group { last = response }
                        return last
                    }
                },
                Wrapper(name: "W", journal: journal, passes: 2),
            ]
        )
        let response = try await provider.request(TestTarget())
        #expect(response.exchanges.count == 16)
        #expect(Set(response.exchanges.map(\.attempt)) == Set(1...16))
        #expect(transport.sent.count == 16)
    }

    @Test("Rule 2 (P03): next throws after its interceptor has returned, and sends nothing")
    func nextAfterReturn() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let (stream, continuation) = AsyncStream.makeStream(of: (PipelineRequest, Stage.Next).self)
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [
                .intercept { request, _, next in
                    continuation.yield((request, next))
                    return try await next(request)
                }
            ]
        )
        _ = try await provider.request(TestTarget())
        var iterator = stream.makeAsyncIterator()
        let (request, next) = try #require(await iterator.next())
        let error = await pipelineError { _ = try await next(request) }
        #expect(error?.code == .plugin)
        #expect(transport.sent.count == 1)
    }

    @Test("Rule 3: observers run in list order, in pairs, once per exchange, for retries and redirects")
    func observers() async throws {
        let moved = ScriptedTransport.Step.status(302, headers: [.location: "/elsewhere"])
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport([moved, .status(503), .failure(.connectionLost)]),
            plugins: [
                Observer(name: "A", journal: journal),
                Wrapper(name: "W", journal: Journal(), passes: 2),
                Observer(name: "B", journal: journal),
            ]
        )
        let error = await pipelineError { _ = try await provider.request(TestTarget()) }
        #expect(error?.code == .connectionLost)
        #expect(
            journal.entries == [
                "A.willSend 1.0", "B.willSend 1.0", "A.didReceive 302", "B.didReceive 302",
                "A.willSend 1.1", "B.willSend 1.1", "A.didReceive 503", "B.didReceive 503",
                "A.willSend 2.0", "B.willSend 2.0", "A.didReceive connectionLost", "B.didReceive connectionLost",
            ]
        )
        #expect(error?.exchanges.map(\.hop) == [0, 1, 0])
    }

    @Test(
        "Rule 3: an observer sees the request as sent, including later plugins' changes, and the bytes as received"
    )
    func observersSeeTheWire() async throws {
        let compressed = Data([0x1f, 0x8b, 8, 0])
        let transport = ScriptedTransport(
            always: .status(200, headers: [.contentEncoding: "gzip"], body: .bytes(compressed))
        )
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [
                .willSend { [journal] request, _ in journal.add(request.headers[.userAgent] ?? "none") },
                .didReceive { [journal] result, _ in
                    guard case .success(let response) = result else { return }
                    journal.add("\(response.data == compressed) \(response.headers[.contentEncoding] ?? "")")
                },
                .process { result, _ in
                    guard case .success(var response) = result else { return }
                    response.body = .bytes(Data("decoded".utf8))
                    result = .success(response)
                },
                .prepare { request, _ in request.headers[.userAgent] = "late/1.0" },
            ]
        )
        let response = try await provider.request(TestTarget())
        #expect(journal.entries == ["late/1.0", "true gzip"])
        #expect(transport.sent.first?.headers[.userAgent] == "late/1.0")
        #expect(try response.mapString() == "decoded")
    }

    @Test(
        "Rule 4 (P01): if prepare throws, nothing inside it runs, and the process stages outside it see the failure",
        arguments: 0..<4
    )
    func prepareThrows(position: Int) async throws {
        let transport = ScriptedTransport(always: .status(200))
        let names = ["A", "B", "C", "D"]
        var plugins: [any PluginType] = names.enumerated().map { index, name in
            layer(name, error: index == position ? TestFailure() : nil)
        }
        plugins.insert(Wrapper(name: "W", journal: journal), at: 2)
        plugins.append(Observer(name: "O", journal: journal))
        let provider = Provider<TestTarget>(transport: transport, plugins: plugins)
        let error = await pipelineError { _ = try await provider.request(TestTarget()) }

        #expect(error?.plugin == names[position])
        #expect(error?.stage == .prepare)
        #expect(error?.code == .plugin)
        #expect(error?.underlyingError as? TestFailure == TestFailure())
        #expect(error?.request?.host == "api.example.com")
        #expect(error.map { "\($0)" }?.contains("s3cr3t") == false)
        #expect(transport.sent.isEmpty)
        let entries = journal.entries
        let prepared = Array(names[...position])
        #expect(entries.filter { $0.hasSuffix(".prepare") && $0 != "W.prepare" } == prepared.map { "\($0).prepare" })
        let processed = names[..<position].reversed().map { "\($0).process" }
        #expect(entries.filter { $0.hasSuffix(".process") && $0 != "W.process" } == processed)
        #expect(entries.contains("W.process") == (position >= 2))
        #expect(!entries.contains { $0.hasPrefix("O.") })
        _ = try await Provider<TestTarget>(transport: transport).request(TestTarget())
    }

    @Test("P01: an error thrown by an interceptor names it and the stage; one that it passes on does not")
    func interceptThrows() async throws {
        let throwing = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [layer("A"), .intercept(name: "broken") { _, _, _ in throw TestFailure() }]
        )
        let error = await pipelineError { _ = try await throwing.request(TestTarget()) }
        #expect(error?.plugin == "broken")
        #expect(error?.stage == .intercept)
        #expect(journal.entries == ["A.prepare", "A.process"])

        let passing = Provider<TestTarget>(
            transport: ScriptedTransport(always: .failure(.dns)),
            plugins: [.intercept(name: "innocent") { request, _, next in try await next(request) }]
        )
        let passed = await pipelineError { _ = try await passing.request(TestTarget()) }
        #expect(passed?.code == .dns)
        #expect(passed?.plugin == nil)

        let deciding = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [.intercept(name: "guard") { _, _, _ in throw PipelineError(.offline, "by decision") }]
        )
        let decided = await pipelineError { _ = try await deciding.request(TestTarget()) }
        #expect(decided?.code == .offline)
        #expect(decided?.plugin == "guard")
    }

    @Test("An error thrown by a plugin has the exchanges of the call")
    func errorsCarryExchanges() async throws {
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(503)),
            plugins: [
                .intercept { request, _, next in
                    _ = try await next(request)
                    _ = try await next(request)
                    throw TestFailure()
                }
            ]
        )
        let error = await pipelineError { _ = try await provider.request(TestTarget()) }
        #expect(error?.exchanges.map(\.statusCode) == [503, 503])
        #expect(error?.request?.host == "api.example.com")
    }

    @Test("A process stage can turn a success into a failure and a failure into a success")
    func processChangesResults() async throws {
        let failing = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [.process { result, _ in result = .failure(PipelineError(.offline, "by decision")) }]
        )
        let error = await pipelineError { _ = try await failing.request(TestTarget()) }
        #expect(error?.code == .offline)

        let healing = Provider<TestTarget>(
            transport: ScriptedTransport(always: .failure(.dns)),
            plugins: [
                .process { result, _ in
                    guard case .failure(let error) = result, let request = error.request else { return }
                    result = .success(PipelineResponse(request: request, statusCode: 203))
                }
            ]
        )
        #expect(try await healing.request(TestTarget()).statusCode == 203)
    }

    @Test("Rule 5: plugins see a response with any status as a success", arguments: [100, 204, 304, 404, 500, 599])
    func anyStatusIsSuccess(status: Int) async throws {
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(status)),
            plugins: [Observer(name: "O", journal: journal)]
        )
        #expect(try await provider.request(TestTarget()).statusCode == status)
        #expect(journal.entries.last == "O.didReceive \(status)")
    }

    @Test("Rule 5: status validation is the last step, after every plugin")
    func validationIsLast() async throws {
        let target = TestTarget(validationType: .successCodes)
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(404, body: "gone")),
            plugins: [.process { [journal] result, _ in if case .success = result { journal.add("success") } }]
        )
        let error = await pipelineError { _ = try await provider.request(target) }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.statusCode == 404)
        #expect(try error?.response?.mapString() == "gone")
        #expect(journal.entries == ["success"])

        let healing = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(404)),
            plugins: [
                .process { result, _ in
                    guard case .success(let response) = result else { return }
                    result = .success(PipelineResponse(request: response.request, statusCode: 200))
                }
            ]
        )
        #expect(try await healing.request(target).statusCode == 200)
    }

    @Test("A target that cannot be encoded reaches every process stage and no other stage")
    func encodingFailureIsSeen() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [
                layer("A"), Wrapper(name: "W", journal: journal), layer("B"), Observer(name: "O", journal: journal),
            ]
        )
        let task = RequestTask.requestJSONEncodable(Double.infinity)
        let error = await pipelineError { _ = try await provider.request(TestTarget(method: .post, task: task)) }
        #expect(error?.code == .encoding)
        #expect(journal.entries == ["B.process", "W.process", "A.process"])
        #expect(transport.sent.isEmpty)
        _ = try await provider.request(TestTarget())
    }

    @Test("Making a provider with a plugin that has no stage traps with the plugin's name")
    func pluginWithoutStage() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            struct Idle: PluginType {}
            _ = Provider<TestTarget>(transport: ScriptedTransport(always: .status(200)), plugins: [Idle()])
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("the plugin Idle at position 1 conforms to PluginType but to no stage"))
        for stage in ["Prepare", "Intercept", "Exchange", "WillSend", "DidReceive", "Process", "DidFinish"] {
            #expect(text.contains("Stage.\(stage)"))
        }
    }
}
