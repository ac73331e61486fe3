import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Chains of APIRequest", .tags(.concurrent), .watched)
struct APIChainTests {
    private let journal = Journal()

    /// Responds with the number in the path.
    private static func numbers() -> ScriptedTransport {
        ScriptedTransport { request, _ in
            .status(200, body: request.path.split(separator: "/").last.map(String.init) ?? "")
        }
    }

    @Test("C87 C88 C89 The values are returned together, each with its type, and the requests are sent in order")
    func values() async throws {
        let bench = APIBench(Self.numbers())
        let chain = APIRequest<Int>("1").and(APIRequest<String>("2")).and(APIRequest<Double>("3"))
        let (first, second, third) = try await bench.api.send(chain)
        #expect(first == 1 && second == "2" && third == 3)
        #expect(bench.paths == ["1", "2", "3"])
    }

    @Test("C89 Responses, batches and chains can be chained too")
    func operations() async throws {
        let bench = APIBench(Self.numbers())
        let chain = APIRequest<Int>("1").withResponse.and(APIRequest<Int>("2").withResponse)
            .and([APIRequest<Int>("3"), APIRequest<Int>("4")].flatten())
            .and(APIRequest<Int>("5").and(APIRequest<String>("6")))
        let (first, second, batch, (fifth, sixth)) = try await bench.api.send(chain)
        #expect(first.body == 1 && second.response.statusCode == 200 && batch.count == 2 && fifth == 5 && sixth == "6")
        #expect(bench.paths == (1...6).map(String.init))
    }

    @Test("C87 Ten requests can be chained")
    func ten() async throws {
        let bench = APIBench(Self.numbers())
        let chain = APIRequest<Int>("1").and(APIRequest<String>("2")).and(APIRequest<Int>("3")).and(
            APIRequest<Int>("4")
        )
        .and(APIRequest<Int>("5")).and(APIRequest<Int>("6")).and(APIRequest<Int>("7")).and(APIRequest<Int>("8"))
        .and(APIRequest<Int>("9")).and(APIRequest<Data>("10"))
        let values = try await bench.api.send(chain)
        #expect(values.0 == 1 && values.1 == "2" && values.8 == 9 && values.9 == Data("10".utf8))
        #expect(bench.paths == (1...10).map(String.init))
    }

    @Test("C88 A request is not sent until the previous one has ended")
    func oneAfterAnother() async throws {
        let bench = APIBench(ScriptedTransport(always: .delayed(.seconds(1), .status(200, body: "1"))))
        async let values = bench.api.send(APIRequest<Int>("1").and(APIRequest<Int>("2")))
        for count in 1...2 {
            try await bench.clock.waitForSleepers()
            #expect(bench.transport.sent.count == count)
            bench.clock.advance(by: .seconds(1))
        }
        #expect(try await values == (1, 1))
    }

    @Test("C90 The first failure ends the chain with the text of its request, and no later request is sent")
    func failure() async throws {
        let bench = APIBench(.status(200, body: "1"), .status(404), .status(200, body: "3"))
        let second = APIRequest<Int>("2").addCustomError(.notFound, "no such thing")
        let chain = APIRequest<Int>("1").and(second).and(APIRequest<Int>("3"))
        let error = await pipelineError { _ = try await bench.api.send(chain) }
        #expect(error?.code == .unacceptableStatus && error?.customText == "no such thing")
        #expect(bench.paths == ["1", "2"])
    }

    @Test("C91 C92 C93 B-C28 A chain has a call's callbacks: one start, progress in equal shares, one end")
    func callbacks() async throws {
        let bench = APIBench(ScriptedTransport(always: .delayed(.seconds(1), .status(200, body: "1"))))
        let chain = APIRequest<Int>("1").and(APIRequest<Int>("2")).and(APIRequest<Int>("3")).and(APIRequest<Int>("4"))
        let call = bench.api.call(chain).onRequestStarted { [journal] in journal.add("started") }
            .onProgress { [journal] in journal.add("\($0)") }
            .onSuccess { [journal] a, b, c, d in journal.add("success \(a + b + c + d)") }
        async let finished: Void = call.finished()
        for step in ["started", "0.25", "0.5", "0.75"] {
            await eventually { journal.entries.last == step }
            try await bench.clock.waitForSleepers()
            bench.clock.advance(by: .seconds(1))
        }
        await finished
        #expect(journal.entries == ["started", "0.25", "0.5", "0.75", "1.0", "success 4"])
    }

    @Test("C94 B-C28 Cancelling a chain ends the running request, and no later one is sent")
    func cancel() async throws {
        let bench = APIBench(.status(200, body: "1"), .hang, .status(200, body: "3"))
        let chain = APIRequest<Int>("1").and(APIRequest<Int>("2")).and(APIRequest<Int>("3"))
        let handle = bench.api.call(chain).onCancellation { [journal] in journal.add("cancellation") }
            .onError { [journal] in journal.add("error \($0.code)") }.execute()
        await eventually { bench.transport.sent.count == 2 }
        handle.cancel()
        await eventually { !journal.entries.isEmpty }
        #expect(journal.entries == ["cancellation"] && bench.paths == ["1", "2"])
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await bench.api.send(chain)
        }
        await #expect(throws: CancellationError.self) { _ = try await task.value }
        #expect(bench.paths == ["1", "2"])
    }

    @Test("After a cancellation no part of a chain starts, not even one that would still succeed")
    func nothingBeginsAfterCancel() async throws {
        let own = OwnOperation { [journal] _, _ in
            journal.add("begun")
            withUnsafeCurrentTask { $0?.cancel() }
        }
        let bench = APIBench()
        let task = Task { _ = try await bench.api.send(own.and(own).and(own)) }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(journal.entries == ["begun"])
    }

    @Test("A chain keeps the environment in which it began")
    func environment() async throws {
        let environments = try APIEnvironments(
            ["a": ServerURL(base: "https://a.example"), "b": ServerURL(base: "https://b.example")],
            current: "a"
        )
        let transport = ScriptedTransport { _, _ in
            .answer { request, _ in
                try environments.use("b")
                return PipelineResponse(request: request, statusCode: 200)
            }
        }
        let api = APIClient(Provider<MultiTarget>(transport: transport), environments: environments)
        _ = try await api.send(APIRequest<IgnoredBody>("1").and(APIRequest<IgnoredBody>("2")))
        #expect(transport.sent.map(\.host) == ["a.example", "a.example"])
        _ = try await api.send(APIRequest<IgnoredBody>("3"))
        #expect(transport.sent.last?.host == "b.example")
    }
}
