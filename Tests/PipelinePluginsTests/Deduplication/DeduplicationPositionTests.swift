import Foundation
import Logging
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("DeduplicationPlugin: position", .tags(.concurrent), .watched)
struct DeduplicationPositionTests {
    private typealias Bench = DeduplicationBench

    private final class Journal: Sendable {
        private let state = Mutex<[String]>([])
        var entries: [String] { state.withLock { $0 } }
        func add(_ text: String) { state.withLock { $0.append(text) } }
    }

    private struct Observer: Stage.WillSend, Stage.DidReceive {
        let journal: Journal

        func willSend(_ request: PipelineRequest, context: PipelineContext) {
            journal.add("will \(context.callID)")
        }

        func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
            journal.add("did \(context.callID)")
        }
    }

    @Test(
        "Two users never share a response; outside AccessTokenPlugin, the stack reports that no call shares",
        arguments: [true, false]
    )
    func credentials(isInside: Bool) async {
        let user = Tally()
        let token = AccessTokenPlugin { _ in "user\(user.add())" }
        let bench = isInside ? Bench(outside: [token]) : Bench(inside: [token])
        let calls = [
            await bench.begin(Ask(authorizationType: .bearer)), await bench.begin(Ask(authorizationType: .bearer)),
        ]
        if isInside { await bench.answer(2) } else { await bench.runOut(calls) }
        #expect(await calls.results.map(\.text) == ["answer 0", "answer 1"])
        #expect(bench.transport.sent.map { $0.headers[.authorization] } == ["Bearer user1", "Bearer user2"])
        let findings = bench.provider.explain().findings.map(\.message)
        #expect(findings.count == (isInside ? 0 : 1))
        let text = "DeduplicationPlugin is outside AccessTokenPlugin: requests are compared before the inner plugin"
        #expect(findings.allSatisfy { $0.hasPrefix(text) })
    }

    /// Sets a credential at one of the stages inside, without declaring it.
    private struct Stranger: Stage.Intercept, Stage.Exchange {
        let stage: Stage.Kind
        let field: HTTPField.Name
        let value: @Sendable () -> String

        private func set(in request: PipelineRequest, at stage: Stage.Kind) throws -> PipelineRequest {
            var request = request
            if stage == self.stage { try request.setHeader(value(), for: field, isSecret: true) }
            return request
        }

        func intercept(
            _ request: PipelineRequest,
            context: PipelineContext,
            next: Stage.Next
        ) async throws -> PipelineResponse {
            try await next(set(in: request, at: .intercept))
        }

        func exchange(
            _ request: PipelineRequest,
            context: PipelineContext,
            send: Stage.Send
        ) async throws -> PipelineResponse {
            try await send(set(in: request, at: .exchange))
        }
    }

    @Test(
        "G02 A credential that a stranger sets inside makes the response that of its call, also if the exchange fails",
        arguments: [Stage.Kind.intercept, .exchange],
        ["Authorization", "Cookie", "Proxy-Authorization", "X-Api-Key"]
    )
    func stranger(stage: Stage.Kind, name: String) async throws {
        let field = try #require(HTTPField.Name(name))
        for isFailure in [false, true] {
            let user = Tally()
            let stranger = Stranger(stage: stage, field: field) { "user\(user.add())" }
            let bench = Bench(inside: [stranger]) { isFailure ? .failure(.dns) : .status(200, body: "answer \($0)") }
            let calls = await bench.begin(3)
            await bench.runOut(calls)
            let texts = await calls.results.map(\.text).sorted()
            #expect(texts == (isFailure ? ["dns", "dns", "dns"] : ["answer 0", "answer 1", "answer 2"]))
            #expect(Set(bench.transport.sent.map { $0.headers[field] }) == ["user1", "user2", "user3"])
        }
    }

    @Test("G02 A credential set inside that belongs to an identity of the call does not prevent sharing")
    func identifiedStranger() async {
        let identity = PluginStack.prepare(name: "identity") { _, context in
            context.addIdentity("user", of: .authorization)
        }
        let bench = Bench(outside: [identity], inside: [Stranger(stage: .exchange, field: .authorization) { "user" }])
        let calls = await bench.begin(3)
        await bench.answer(1)
        #expect(await calls.results.map(\.text) == ["answer 0", "answer 0", "answer 0"])
    }

    @Test("G02 A plugin logs once that it shares nothing because of a credential that is set inside")
    func logged() async {
        let log = WarningLog()
        let user = Tally()
        let stranger = Stranger(stage: .exchange, field: .authorization) { "user\(user.add())" }
        let bench = Bench(outside: [log], inside: [stranger])
        for count in [1, 2, 3] {
            await bench.runOut(bench.begin(count))
            #expect(log.all.count == (count == 1 ? 0 : 1))
        }
        let text = log.all.joined()
        #expect(text.hasPrefix("DeduplicationPlugin shares no response to a request"))
        #expect(!text.contains("user1"))
    }

    @Test("G02 The others send their own requests also if the call that leads has left")
    func leaderLeft() async throws {
        let user = Tally()
        let bench = Bench(inside: [Stranger(stage: .exchange, field: .cookie) { "user\(user.add())" }])
        let calls = await bench.begin(3)
        calls[0].cancel()
        await bench.runOut(calls)
        #expect(await calls.results.dropFirst().map(\.text).sorted() == ["answer 1", "answer 2"])
    }

    @Test("Only calls with the same identity share")
    func identities() async {
        let user = Tally()
        let identity = PluginStack.prepare(name: "identity") { _, context in
            context.addIdentity("signer/user\(user.add() / 2)")
        }
        let bench = Bench(outside: [identity])
        let calls = [
            await bench.begin(Ask()), await bench.begin(Ask()), await bench.begin(Ask()), await bench.begin(Ask()),
        ]
        await bench.answer(3)
        // The tally starts at 1, so the first call is alone, the next two share a user, and so on.
        #expect(await calls.results.map(\.text) == ["answer 0", "answer 1", "answer 1", "answer 2"])
    }

    @Test(
        "Inside a retry plugin each call decides on its own; outside it, calls share all attempts",
        arguments: [true, false]
    )
    func attempts(isInside: Bool) async {
        let decisions = Tally()
        let again = sendAgain(2, decisions)
        let answers: @Sendable (Int) -> ScriptedTransport.Step = { $0 == 0 ? .status(503) : .status(200, body: "ok") }
        let bench = isInside ? Bench(outside: [again], answers) : Bench(inside: [again], answers)
        let calls = await bench.begin(10)
        bench.clock.advance(by: .seconds(1))
        await eventually {
            bench.plugin.callerCount == 10 && bench.clock.sleeperCount == 1 && bench.transport.sent.count == 2
        }
        bench.clock.advance(by: .seconds(1))
        #expect(await calls.results.map(\.text) == Array(repeating: "ok", count: 10))
        #expect(decisions.value == (isInside ? 10 : 1))
        #expect(bench.transport.sent.count == 2)
    }

    @Test(
        "Inside a decoding plugin each call decodes its own body; outside it, the body is decoded once",
        arguments: [true, false]
    )
    func decoding(isInside: Bool) async {
        let decodings = Tally()
        let decode = PluginStack.process { result, _ in
            decodings.add()
            guard case .success(var response) = result else { return }
            response.body = .bytes(Data(response.data.reversed()))
            result = .success(response)
        }
        let answer: @Sendable (Int) -> ScriptedTransport.Step = { _ in .status(200, body: "ko") }
        let bench = isInside ? Bench(outside: [decode], answer) : Bench(inside: [decode], answer)
        let calls = await bench.begin(10)
        await bench.answer()
        #expect(await calls.results.map(\.text) == Array(repeating: "ok", count: 10))
        #expect(decodings.value == (isInside ? 10 : 1))
    }

    @Test(
        "Moya defect (5): outer plugins run for every call, inner ones and all observers once, with the leader"
    )
    func once() async {
        let journal = Journal()
        let bench = Bench(
            outside: [
                Observer(journal: journal),
                .prepare { _, context in
                    if context.callID == 1 { context.setDeadline(context.start.advanced(by: .seconds(100))) }
                    journal.add("outer prepare \(context.callID)")
                },
                .process { _, context in journal.add("outer process \(context.callID)") },
            ],
            inside: [
                .prepare { _, context in
                    let isStrict = context.target.validationType == .successCodes
                    let time = context.deadline.map { context.start.duration(to: $0) } ?? .zero
                    journal.add("inner prepare \(context.callID) \(context.options.avoidLogError) \(isStrict) \(time)")
                },
                .process { _, context in journal.add("inner process \(context.callID)") }, Observer(journal: journal),
            ]
        )
        var calls = [await bench.begin(Ask(validationType: .successCodes), .init { $0.avoidLogError = true })]
        for _ in 0..<2 { calls.append(await bench.begin()) }
        await bench.answer()
        _ = await calls.results
        let expected =
            (1...3).flatMap { ["outer prepare \($0)", "outer process \($0)"] }
            + ["will 1", "will 1", "did 1", "did 1", "inner prepare 1 true true 100.0 seconds", "inner process 1"]
        #expect(journal.entries.sorted() == expected.sorted())
    }

    @Test("After the leader ends, inner plugins continue in its name: retries run, observers stay paired")
    func afterLeader() async {
        let journal = Journal()
        let bench = Bench(
            inside: [
                sendAgain(3), .prepare { _, context in journal.add("prepare \(context.callID).\(context.attempt)") },
                Observer(journal: journal),
            ]
        ) { $0 < 2 ? .status(503) : .status(200, body: "ok") }
        let calls = await bench.begin(2)
        calls[0].cancel()
        #expect(await calls[0].result.isCancelled)
        for number in 1...3 {
            await eventually { bench.transport.sent.count == number }
            await bench.answer()
        }
        let result = await calls[1].result
        #expect(result.text == "ok")
        #expect(result.response?.exchanges.count == 0)
        #expect(
            journal.entries == [1, 2, 3].flatMap { ["prepare 1.\($0)", "will 1", "did 1"] }
        )
    }

    @Test("An inner DeduplicationPlugin shares nothing, and the stack reports it")
    func two() async {
        let inner = DeduplicationPlugin()
        let bench = Bench(inside: [inner])
        let calls = await bench.begin(3)
        #expect((bench.plugin.inflightCount, inner.inflightCount) == (1, 0))
        await bench.answer()
        #expect(await calls.results.map(\.text) == ["answer 0", "answer 0", "answer 0"])
        #expect(bench.provider.explain().findings.map(\.message).count { $0.contains("used twice") } == 1)
        #expect(Bench().provider.explain().findings.isEmpty)
    }

    @Test("The stack notes which plugins run once for all sharing calls, if any")
    func notes() {
        let observer = Observer(journal: Journal())
        #expect(Bench(outside: [sendAgain()], inside: [observer]).provider.explain().hints.isEmpty)
        let notes = Bench(inside: [sendAgain(), observer, .prepare { _, _ in }]).provider.explain().hints
        #expect(notes.count == 1)
        let text = "outside again, prepare closure: each inner plugin runs once for all"
        #expect(notes.first?.message.contains(text) == true)
    }
}
