import Dispatch
import Foundation
import HTTPTypes
import PipelinePlugins
import PipelineTesting
import Synchronization
import Testing

@testable import Pipeline

@Suite("APICall: callbacks")
struct APICallTests {
    private let journal = Journal()

    /// A call with every handler set but those left out.
    private func call<Value: Sendable>(_ call: APICall<Value>, without omitted: Set<String> = []) -> APICall<Value> {
        var call = call.onSuccess { [journal] _ in journal.add("success") }
            .onError { [journal] in journal.add("error \($0.code)") }
            .onRequestStarted { [journal] in journal.add("started") }
        if !omitted.contains("special") {
            call = call.onNotAuthorized { [journal] in journal.add("notAuthorized") }
                .onNetworkUnavailable { [journal] in journal.add("networkUnavailable") }
                .onTimeout { [journal] in journal.add("timeout") }
                .onCancellation { [journal] in journal.add("cancellation") }
        }
        return call
    }

    private var isEnded: Bool { journal.entries.contains { $0 != "started" } }

    @Test(
        "C25 C28 C29 C30 C33 B-C3 B-C9 Of an outcome its own handler is told, once, after onRequestStarted",
        arguments: [
            (ScriptedTransport.Step.ok, "success"), (.status(401), "notAuthorized"),
            (.status(403), "error unacceptableStatus"),
            (.failure(.timeout(.attempt)), "timeout"), (.failure(.offline), "networkUnavailable"),
            (.failure(.dns), "error dns"), (.failure(.cancelled), "cancellation"),
        ]
    )
    func special(step: ScriptedTransport.Step, entry: String) async throws {
        let bench = APIBench(step)
        await call(bench.api.call(APIRequest<Nothing>("x"))).finished()
        #expect(journal.entries == ["started", entry])
    }

    @Test(
        "Without a handler of its own a failure is told to onError, once",
        arguments: [
            (ScriptedTransport.Step.status(401), "error unacceptableStatus"),
            (.failure(.timeout(.idle)), "error timeout.idle"),
            (.failure(.offline), "error offline"), (.failure(.cancelled), "error cancelled"),
        ]
    )
    func general(step: ScriptedTransport.Step, entry: String) async throws {
        let bench = APIBench(step)
        await call(bench.api.call(APIRequest<Nothing>("x")), without: ["special"]).finished()
        #expect(journal.entries == ["started", entry])
    }

    @Test("C33 What cannot be sent, and what does not decode, is told to onError")
    func failures() async throws {
        let bench = APIBench(.status(200, body: "x"))
        await call(bench.api.call(APIRequest<Int>("x"))).finished()
        var lost = bench.api
        lost.server = nil
        await call(lost.call(APIRequest<Int>("x"))).finished()
        #expect(journal.entries.filter { $0 != "started" } == ["error mapping.object", "error invalidRequest.url"])
    }

    @Test("C38 B-C7 Setting handlers sends nothing; each execute() is one wire request, however many handlers")
    func startsNothing() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let prepared = call(bench.api.call(APIRequest<Nothing>("x"))).onSuccess { [journal] _ in journal.add("second") }
        #expect(bench.transport.sent.isEmpty && journal.entries.isEmpty)
        await prepared.finished()
        #expect(bench.transport.sent.count == 1 && journal.entries == ["started", "second"])
        await prepared.finished()
        #expect(bench.transport.sent.count == 2)
    }

    @Test(
        "C31 C32 B-C4 cancel() ends what is running, and the cancellation is told once, however often",
        arguments: [
            true, false,
        ]
    )
    func cancel(hasHandler: Bool) async throws {
        let bench = APIBench(.hang)
        let call = call(bench.api.call(APIRequest<Nothing>("x")), without: hasHandler ? [] : ["special"])
        let handle = call.execute()
        await eventually { bench.transport.sent.count == 1 }
        handle.cancel()
        handle.cancel()
        await eventually { isEnded }
        handle.cancel()
        #expect(journal.entries == ["started", hasHandler ? "cancellation" : "error cancelled"])
    }

    @Test("B-C5 A call that is cancelled before it begins sends nothing and does not say that it has started")
    func cancelledBefore() async throws {
        let bench = APIBench(.ok)
        let call = call(bench.api.call(APIRequest<Nothing>("x")))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await call.run()
        }
        await task.value
        #expect(bench.transport.sent.isEmpty && journal.entries == ["cancellation"])
    }

    @Test("B-C6 A call that is cancelled while its success waits to be delivered ends in a cancellation")
    func cancelledBeforeDelivery() async throws {
        let bench = APIBench(.ok)
        let queue = DispatchQueue(label: "callbacks")
        let gate = Gate()
        let handle = call(bench.api.call(APIRequest<Nothing>("x"))).deliver(on: queue)
            .onRequestStarted {
                // What is queued behind this is delivered after the cancellation.
                queue.async { gate.wait() }
            }
            .execute()
        await eventually { bench.transport.sent.count == 1 }
        handle.cancel()
        gate.open()
        await eventually { isEnded }
        #expect(journal.entries == ["cancellation"])
    }

    @Test("B-C6 A minimum duration that is cancelled gives no success")
    func cancelledInMinimumDuration() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok), plugins: [MinimumDurationPlugin(.seconds(5))])
        let handle = call(bench.api.call(APIRequest<Nothing>("x"))).execute()
        await bench.clock.waitForSleepers()
        handle.cancel()
        await eventually { isEnded }
        #expect(journal.entries == ["started", "cancellation"])
    }

    @Test("C36 Progress never falls, ends with 1 exactly once, and comes before the success")
    func progress() async throws {
        let body = Data(repeating: 7, count: 100)
        let bench = APIBench(
            ScriptedTransport(
                always: .answer { request, context in
                    for count in [10, 40, 40, 100] { context.reportSent(count) }
                    return PipelineResponse(request: request, statusCode: 200)
                }
            )
        )
        let request = APIRequest<Nothing>("x").method(.post).task(.requestStream(.bytes(body)))
        await call(bench.api.call(request)).onProgress { [journal] in journal.add("\($0)") }.finished()
        let steps = journal.entries.compactMap(Double.init)
        #expect(steps == steps.sorted() && steps.last == 1 && steps.filter { $0 == 1 }.count == 1)
        #expect(steps.allSatisfy { (0...1).contains($0) })
        #expect(journal.entries.last == "success" && journal.entries.first == "started")
    }

    @Test("A call that fails tells of no progress of 1")
    func failedProgress() async throws {
        let bench = APIBench(.status(500))
        await call(bench.api.call(APIRequest<Nothing>("x"))).onProgress { [journal] in journal.add("\($0)") }.finished()
        #expect(journal.entries == ["started", "error unacceptableStatus"])
    }

    @Test("C40 Handlers run on the queue that is given")
    func queue() async throws {
        let queue = DispatchQueue(label: "callbacks")
        let key = DispatchSpecificKey<String>()
        queue.setSpecific(key: key, value: "here")
        let note = { @Sendable [journal] (what: String) in
            journal.add("\(what) \(DispatchQueue.getSpecific(key: key) ?? "elsewhere")")
        }
        let bench = APIBench(.ok, .status(500))
        for _ in 0..<2 {
            await bench.api.call(APIRequest<Nothing>("x")).deliver(on: queue).onRequestStarted { note("started") }
                .onProgress { _ in note("progress") }.onSuccess { _ in note("success") }.onError { _ in note("error") }
                .finished()
        }
        #expect(journal.entries == ["started here", "progress here", "success here", "started here", "error here"])
    }

    @Test("Handlers run on the actor that is given")
    func actor() async throws {
        let bench = APIBench(.ok)
        await bench.api.call(APIRequest<Nothing>("x")).deliver(on: MainActor.shared)
            .onRequestStarted { [journal] in MainActor.assumeIsolated { journal.add("started") } }
            .onSuccess { [journal] _ in MainActor.assumeIsolated { journal.add("success") } }
            .finished()
        #expect(journal.entries == ["started", "success"])
    }

    @Test("C26 withResponse gives the value together with status, header fields and bytes")
    func withResponse() async throws {
        let bench = APIBench(ScriptedTransport(always: .status(200, headers: [.server: "s"], body: "42")))
        let answer = try await bench.api.send(APIRequest<Int>("x").withResponse)
        #expect(answer.body == 42 && answer.statusCode == 200 && answer.headers[.server] == "s")
        #expect(answer.bodyData == Data("42".utf8))
        await bench.api.call(APIRequest<Int>("x").withResponse).onSuccess { [journal] in journal.add("\($0.statusCode)")
        }
        .finished()
        #expect(journal.entries == ["200"])
    }

    @Test(
        "C5 C29 C57 C58 B-C2 A handler of the client is told of a 401 first; its header fields are fresh for each call"
    )
    func clientWide() async throws {
        struct Device: Encodable {
            enum CodingKeys: String, CodingKey { case id = "X-Device" }
            var id: Int
        }
        let count = Atomic(0)
        let plugins: [any PluginType] = [
            UnauthorizedPlugin { [journal] _, _ in journal.add("client") },
            HeadersPlugin { _ in ["X-Count": "\(count.add(1, ordering: .relaxed).newValue)"] },
            HeadersPlugin(encoding: Device(id: 7)),
        ]
        let bench = APIBench(ScriptedTransport(always: .status(401)), plugins: plugins)
        for _ in 0..<2 { await call(bench.api.call(APIRequest<Nothing>("x"))).finished() }
        #expect(journal.entries == ["started", "client", "notAuthorized", "started", "client", "notAuthorized"])
        let (countName, deviceName) = (
            try #require(HTTPField.Name("X-Count")), try #require(HTTPField.Name("X-Device"))
        )
        #expect(bench.transport.sent.map { $0.headers[countName] } == ["1", "2"])
        #expect(bench.transport.sent.allSatisfy { $0.headers[deviceName] == "7" })
    }
}

/// Holds a thread until it is opened.
private final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func wait() { semaphore.wait() }

    func open() { semaphore.signal() }
}
