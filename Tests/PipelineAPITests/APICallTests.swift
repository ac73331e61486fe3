import Dispatch
import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineAPI

@Suite("APICall: callbacks", .tags(.concurrent), .watched)
struct APICallTests {
    private let journal = Journal()

    /// Sets all handlers of a call except for the omitted ones.
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
        "C25 C28 C29 C30 C33 B-C3 B-C9 Each outcome calls only its own handler, once, after onRequestStarted",
        arguments: [
            (ScriptedTransport.Step.ok, "success"), (.status(401), "notAuthorized"),
            (.status(403), "error unacceptableStatus"),
            (.failure(.timeout(.attempt)), "timeout"), (.failure(.offline), "networkUnavailable"),
            (.failure(.dns), "error dns"), (.failure(.cancelled), "cancellation"),
        ]
    )
    func special(step: ScriptedTransport.Step, entry: String) async throws {
        let bench = APIBench(step)
        await call(bench.api.call(APIRequest<IgnoredBody>("x"))).finished()
        #expect(journal.entries == ["started", entry])
    }

    @Test("Provider.drain waits for a call from its start until its last handler has returned")
    func drain() async throws {
        let bench = APIBench(.ok)
        let provider = bench.api.provider
        let (queue, isHeld) = (DispatchQueue(label: "held"), DispatchSemaphore(value: 0))
        queue.async { isHeld.waitForSignal() }
        defer { isHeld.signal() }
        let task = call(bench.api.call(APIRequest<IgnoredBody>("x"))).deliver(on: .queue(queue)).execute()
        try #require(await provider.drain(within: .zero) == false)
        async let isDrained = provider.drain(within: .seconds(1))
        try await bench.clock.waitForSleepers()
        isHeld.signal()
        #expect(await isDrained)
        #expect(journal.entries == ["started", "success"])
        await task.value
    }

    @Test(
        "A failure without a handler of its own calls onError once",
        arguments: [
            (ScriptedTransport.Step.status(401), "error unacceptableStatus"),
            (.failure(.timeout(.idle)), "error timeout.idle"),
            (.failure(.offline), "error offline"), (.failure(.cancelled), "error cancelled"),
        ]
    )
    func general(step: ScriptedTransport.Step, entry: String) async throws {
        let bench = APIBench(step)
        await call(bench.api.call(APIRequest<IgnoredBody>("x")), without: ["special"]).finished()
        #expect(journal.entries == ["started", entry])
    }

    @Test("C33 A request that cannot be sent and a response that cannot be decoded call onError")
    func failures() async throws {
        let bench = APIBench(.status(200, body: "x"))
        await call(bench.api.call(APIRequest<Int>("x"))).finished()
        var lost = bench.api
        lost.server = nil
        await call(lost.call(APIRequest<Int>("x"))).finished()
        #expect(journal.entries.filter { $0 != "started" } == ["error mapping.object", "error invalidRequest.url"])
    }

    @Test("C25 onRequestStarted does not run for a call that is refused before it is sent")
    func neverSent() async throws {
        let refusing = PluginStack.prepare { _, _ in throw PipelineError(.plugin, "refused") }
        let bench = APIBench(ScriptedTransport(always: .ok), plugins: [refusing])
        await call(bench.api.call(APIRequest<IgnoredBody>("x"))).finished()
        var lost = APIBench(.ok).api
        lost.server = nil
        await call(lost.call(APIRequest<IgnoredBody>("x"))).finished()
        #expect(journal.entries == ["error plugin", "error invalidRequest.url"])
    }

    @Test("C25 onRequestStarted runs once for a call with several attempts and redirects, before its end")
    func startedOnce() async throws {
        let moved = ScriptedTransport.Step.status(307, headers: [.location: "/v1/y"])
        let bench = APIBench(
            ScriptedTransport([.status(503), moved, .ok]),
            plugins: [RetryPlugin(backoff: .immediate)]
        )
        await call(bench.api.call(APIRequest<IgnoredBody>("x"))).finished()
        #expect(bench.transport.sent.count == 3)
        #expect(journal.entries == ["started", "success"])
    }

    @Test(
        "Ruling 21: onError runs for each failure that a batch survives, as it happens, and the outcome lists them all"
    )
    func survivedFailures() async throws {
        let transport = ScriptedTransport { request, _ in
            switch request.path.last {
            case "1": .status(500)
            case "3": .status(401)
            default: .ok
            }
        }
        let requests = (1...4).map { APIRequest<IgnoredBody>("x", "\($0)") }
        await APIBench(transport).api.call(requests.flatten().avoidCancelOnError())
            .onNotAuthorized { [journal] in journal.add("notAuthorized") }
            .onError { [journal] in journal.add("error \($0.statusCode ?? 0)") }
            .onProgress { [journal] in journal.add("\($0)") }
            .onSuccess { [journal] in journal.add("failures \($0.failures.keys.sorted())") }
            .finished()
        let told = journal.entries.filter { !$0.hasPrefix("0") }
        #expect(told == ["error 500", "error 401", "1.0", "failures [0, 2]"])
    }

    @Test(
        "A handler for an ignored body or a batch can omit its argument; only the last handler set runs"
    )
    func successWithoutArgument() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let request = APIRequest<IgnoredBody>("x")
        await bench.api.call(request).onSuccess { [journal] in journal.add("nothing") }.finished()
        await bench.api.call([request].flatten()).onSuccess { [journal] in journal.add("batch") }.finished()
        await bench.api.call(request).onSuccess { [journal] _ in journal.add("value") }
            .onSuccess { [journal] in journal.add("plain") }.finished()
        await bench.api.call(request).onSuccess { [journal] in journal.add("plain") }
            .onSuccess { [journal] _ in journal.add("value") }.finished()
        #expect(journal.entries == ["nothing", "batch", "plain", "value"])
    }

    @Test("C38 B-C7 Setting handlers sends nothing; each execute() sends one request, however many handlers")
    func startsNothing() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let prepared = call(bench.api.call(APIRequest<IgnoredBody>("x"))).onSuccess { [journal] _ in
            journal.add("second")
        }
        #expect(bench.transport.sent.isEmpty && journal.entries.isEmpty)
        await prepared.finished()
        #expect(bench.transport.sent.count == 1 && journal.entries == ["started", "second"])
        await prepared.finished()
        #expect(bench.transport.sent.count == 2)
    }

    @Test(
        "C31 C32 B-C4 cancel() ends the running call and is reported once, however often it is called",
        arguments: [
            true, false,
        ]
    )
    func cancel(hasHandler: Bool) async throws {
        let bench = APIBench(.hang)
        let call = call(bench.api.call(APIRequest<IgnoredBody>("x")), without: hasHandler ? [] : ["special"])
        let handle = call.execute()
        // The transport receives the request right after onRequestStarted has run.
        await eventually { journal.entries == ["started"] && bench.transport.sent.count == 1 }
        handle.cancel()
        handle.cancel()
        await eventually { isEnded }
        handle.cancel()
        #expect(journal.entries == ["started", hasHandler ? "cancellation" : "error cancelled"])
    }

    @Test("B-C5 A call cancelled before it starts sends nothing and does not call onRequestStarted")
    func cancelledBefore() async throws {
        let bench = APIBench(.ok)
        let call = call(bench.api.call(APIRequest<IgnoredBody>("x")))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await call.run(call.prepare())
        }
        await task.value
        #expect(bench.transport.sent.isEmpty && journal.entries == ["cancellation"])
        let own = self.call(bench.api.call(OwnOperation { [journal] _, _ in journal.add("begun") }))
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await own.run(own.prepare())
        }
        .value
        #expect(journal.entries == ["cancellation", "cancellation"])
    }

    @Test(
        "B-C6 A call cancelled while its result waits for delivery ends in a cancellation, without progress",
        arguments: [ScriptedTransport.Step.ok, .status(500), .status(401), .failure(.offline)],
        [true, false]
    )
    func cancelledBeforeDelivery(step: ScriptedTransport.Step, hasProgress: Bool) async throws {
        let answered = Journal()
        let bench = APIBench(ScriptedTransport(always: step))
        let queue = DispatchQueue(label: "callbacks")
        let gate = Gate()
        let request = OwnOperation { client, report in
            report?(0.5)
            let result = await APIRequest<IgnoredBody>("x").run(in: client, observer: APIObserver())
            answered.add("answered")
            _ = try result.get()
        }
        var call = call(bench.api.call(request)).deliver(on: .queue(queue))
            .onRequestStarted {
                // Work queued after this is delivered after the cancellation.
                queue.async { gate.waitUntilOpen() }
            }
        if hasProgress { call = call.onProgress { [journal] in journal.add("\($0)") } }
        let handle = call.execute()
        await eventually { !answered.entries.isEmpty }
        // The steps from here to the queue cannot be observed; an earlier cancellation has the same outcome.
        for _ in 0..<100 { await Task.yield() }
        handle.cancel()
        gate.open()
        await eventually { isEnded }
        #expect(journal.entries == ["cancellation"])
    }

    @Test("B-C6 A call cancelled during its minimum duration does not succeed")
    func cancelledInMinimumDuration() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok), plugins: [MinimumDurationPlugin(.seconds(5))])
        let handle = call(bench.api.call(APIRequest<IgnoredBody>("x"))).execute()
        try await bench.clock.waitForSleepers()
        await eventually { journal.entries == ["started"] }
        handle.cancel()
        await eventually { isEnded }
        #expect(journal.entries == ["started", "cancellation"])
    }

    @Test("C36 Progress never falls, ends with 1 exactly once and precedes the success")
    func progress() async throws {
        let body = Data(repeating: 7, count: 100)
        let bench = APIBench(
            ScriptedTransport(
                always: .answer { request, context in
                    for count in [10, 40, 40, 100] { context.report(.sent(count)) }
                    return PipelineResponse(request: request, statusCode: 200)
                }
            )
        )
        let request = APIRequest<IgnoredBody>("x").method(.post).task(.requestStream(.bytes(body)))
        await call(bench.api.call(request)).onProgress { [journal] in journal.add("\($0)") }.finished()
        let steps = journal.entries.compactMap(Double.init)
        #expect(steps == steps.sorted() && steps.last == 1 && steps.count { $0 == 1 } == 1)
        #expect(steps.allSatisfy { (0...1).contains($0) })
        #expect(journal.entries.last == "success" && journal.entries.first == "started")
    }

    @Test("C36 Forms and files report upload progress; other payloads report the progress of the response")
    func progressOnTheWay() async throws {
        let gate = AsyncStream.makeStream(of: Void.self)
        let bench = APIBench(
            ScriptedTransport(
                always: .answer { request, context in
                    context.report(.sent(40))
                    for await _ in gate.stream { break }
                    return PipelineResponse(request: request, statusCode: 200)
                }
            )
        )
        let file = APIRequest<IgnoredBody>("x").method(.post).task(
            .requestStream(.bytes(Data(repeating: 7, count: 100)))
        )
        let call = call(bench.api.call(file)).onProgress { [journal] in journal.add("\($0)") }
        async let ended: Void = call.finished()
        await eventually { journal.entries.last == "0.4" }
        gate.continuation.yield()
        await ended
        let form = APIRequest<IgnoredBody>("x", payload: PayloadTests.Post(text: "t")).method(.post)
        async let formEnded: Void = self.call(bench.api.call(form)).onProgress { [journal] in
            journal.add("form \($0 > 0)")
        }
        .finished()
        await eventually { journal.entries.last == "form true" }
        gate.continuation.yield()
        await formEnded
        let json = APIRequest<IgnoredBody>("x", payload: PayloadTests.Signup()).method(.post)
        gate.continuation.yield()
        await self.call(bench.api.call(json)).onProgress { [journal] in journal.add("json \($0)") }.finished()
        let steps = Set(journal.entries.filter { $0.hasPrefix("json") })
        #expect(steps.isSubset(of: ["json 0.0", "json 1.0"]) && steps.contains("json 1.0"))
    }

    @Test("C36 A payload that makes its own task reports upload progress if the task does")
    func progressOfOwnPayload() async throws {
        struct Raw: APIPayload {
            func encode(to encoder: any Encoder) throws {}
            func makeTask(with coders: ProviderConfiguration.Coders) -> RequestTask {
                .requestStream(.bytes(Data(repeating: 7, count: 100)))
            }
        }
        let gate = AsyncStream.makeStream(of: Void.self)
        let bench = APIBench(
            .answer { request, context in
                context.report(.sent(40))
                for await _ in gate.stream { break }
                return PipelineResponse(request: request, statusCode: 200)
            }
        )
        let request = APIRequest<IgnoredBody>("x", payload: Raw()).method(.post)
        async let ended: Void = bench.api.call(request).onProgress { [journal] in journal.add("\($0)") }.finished()
        await eventually { journal.entries == ["0.4"] }
        gate.continuation.yield()
        await ended
    }

    @Test("C36 A progress step not greater than the last one is dropped")
    func repeatedProgress() async throws {
        let own = OwnOperation { [journal] _, report in
            for step in [0, 0.5, 0.5, 0.25, 0.5, 0.75] {
                report?(step)
                if step == 0.5 { await eventually { journal.entries.contains("0.5") } }
                for _ in 0..<100 { await Task.yield() }
            }
        }
        await APIBench().api.call(own).onProgress { [journal] in journal.add("\($0)") }.finished()
        #expect(journal.entries == ["0.5", "0.75", "1.0"])
    }

    @Test("Progress steps that outpace the handler are dropped, except for the latest")
    func fastProgress() async throws {
        let bench = APIBench()
        let queue = DispatchQueue(label: "callbacks")
        let gate = Gate()
        let reported = Journal()
        let fast = OwnOperation { _, report in
            for step in 1...9 { report?(Double(step) / 10) }
            reported.add("reported")
        }
        let handle = bench.api.call(fast).deliver(on: .queue(queue))
            .onRequestStarted { queue.async { gate.waitUntilOpen() } }
            .onProgress { [journal] in journal.add("\($0)") }
            .execute()
        await eventually { !reported.entries.isEmpty }
        gate.open()
        await handle.value
        #expect(journal.entries.suffix(2) == ["0.9", "1.0"] && journal.entries.count <= 3)
    }

    @Test("A call that fails does not report progress 1")
    func failedProgress() async throws {
        let bench = APIBench(.status(500))
        await call(bench.api.call(APIRequest<IgnoredBody>("x"))).onProgress { [journal] in journal.add("\($0)") }
            .finished()
        #expect(journal.entries == ["started", "error unacceptableStatus"])
    }

    @Test("C40 Handlers run on the given queue")
    func queue() async throws {
        let queue = DispatchQueue(label: "callbacks")
        let key = DispatchSpecificKey<String>()
        queue.setSpecific(key: key, value: "here")
        let note = { @Sendable [journal] (what: String) in
            journal.add("\(what) \(DispatchQueue.getSpecific(key: key) ?? "elsewhere")")
        }
        let bench = APIBench(.ok, .status(500))
        for _ in 0..<2 {
            await bench.api.call(APIRequest<IgnoredBody>("x")).deliver(on: .queue(queue)).onRequestStarted {
                note("started")
            }
            .onProgress { _ in note("progress") }.onSuccess { _ in note("success") }.onError { _ in note("error") }
            .finished()
        }
        #expect(journal.entries == ["started here", "progress here", "success here", "started here", "error here"])
    }

    @Test("A call without a handler on its queue does not wait for the queue")
    func busyQueue() async throws {
        let queue = DispatchQueue(label: "callbacks")
        queue.suspend()
        let bench = APIBench(ScriptedTransport(always: .ok))
        let call = bench.api.call(APIRequest<IgnoredBody>("x")).deliver(on: .queue(queue))
        await call.finished()
        let view = View()
        await call.onSuccess { @MainActor _ in view.notes.append("success") }.finished()
        queue.resume()
        #expect(await view.notes == ["success"])
    }

    @Test("C40 Without a queue of its own, a call runs its handlers on the provider's queue")
    func providersQueue() async throws {
        let queue = DispatchQueue(label: "provider")
        let key = DispatchSpecificKey<String>()
        queue.setSpecific(key: key, value: "provider")
        let provider = Provider<MultiTarget>(
            transport: ScriptedTransport(always: .ok),
            configuration: .init(callbackExecutor: .queue(queue))
        )
        let api = APIClient(provider, server: ServerURL(base: "https://api.example.com"))
        await api.call(APIRequest<IgnoredBody>("x"))
            .onSuccess { [journal] _ in journal.add(DispatchQueue.getSpecific(key: key) ?? "elsewhere") }
            .finished()
        #expect(journal.entries == ["provider"])
    }

    @Test("An actor-isolated handler runs on its actor, whatever queue is given")
    func actor() async throws {
        let queue = DispatchQueue(label: "callbacks")
        let bench = APIBench(.ok, .status(500))
        let view = View()
        for _ in 0..<2 {
            await bench.api.call(APIRequest<IgnoredBody>("x")).deliver(on: .queue(queue))
                .onRequestStarted { @MainActor in view.notes.append("started") }
                .onProgress { @MainActor in view.notes.append("\($0)") }
                .onSuccess { @MainActor _ in view.notes.append("success") }
                .onError { @MainActor in view.notes.append("error \($0.code)") }
                .finished()
        }
        let notes = await view.notes
        #expect(notes == ["started", "1.0", "success", "started", "error unacceptableStatus"])
        let counter = Counter()
        await counter.count(bench.api.call(APIRequest<IgnoredBody>("x"))).finished()
        #expect(await counter.count == 1)
    }

    @Test("B-C6 A call cancelled on the main actor no longer reports a success there")
    @MainActor
    func cancelledOnMainActor() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        for round in 0..<60 {
            let view = View()
            let handle = bench.api.call(APIRequest<IgnoredBody>("x"))
                .onSuccess { _ in view.notes.append("success") }
                .onCancellation { view.notes.append("cancellation") }
                .execute()
            for _ in 0..<(round % 20) { await Task.yield() }
            let isOver = !view.notes.isEmpty
            handle.cancel()
            await handle.value
            #expect(view.notes == [isOver ? "success" : "cancellation"])
        }
    }

    @Test(
        "B-C6 A call cancelled while its success waits for an actor ends in a cancellation, whatever its queue",
        arguments: [true, false]
    )
    func cancelledBeforeActor(hasQueue: Bool) async throws {
        let bench = APIBench(.ok)
        let busy = BusyActor()
        var call = await busy.noteSuccess(of: bench.api.call(APIRequest<IgnoredBody>("x")))
            .onCancellation { [journal] in journal.add("cancellation") }
        if hasQueue { call = call.deliver(on: .queue(DispatchQueue(label: "callbacks"))) }
        busy.executor.queue.suspend()
        let jobCount = busy.executor.jobCount
        let handle = call.execute()
        await eventually { busy.executor.jobCount > jobCount }
        handle.cancel()
        busy.executor.queue.resume()
        await handle.value
        #expect(journal.entries == ["cancellation"])
        #expect(await busy.notes.isEmpty)
    }

    @Test("C26 withResponse returns the value with the status, header fields and bytes")
    func withResponse() async throws {
        let bench = APIBench(ScriptedTransport(always: .status(200, headers: [.server: "s"], body: "42")))
        let answer = try await bench.api.send(APIRequest<Int>("x").withResponse)
        #expect(answer.body == 42 && answer.response.statusCode == 200 && answer.response.headers[.server] == "s")
        #expect(answer.response.data == Data("42".utf8))
        await bench.api.call(APIRequest<Int>("x").withResponse)
            .onSuccess { [journal] in journal.add("\($0.response.statusCode)") }
            .finished()
        #expect(journal.entries == ["200"])
    }

    @Test(
        "C5 C29 C57 C58 B-C2 A client's handler gets a 401 first; its header fields are computed for each call"
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
            HeadersPlugin(Device(id: 7)),
        ]
        let bench = APIBench(ScriptedTransport(always: .status(401)), plugins: plugins)
        for _ in 0..<2 { await call(bench.api.call(APIRequest<IgnoredBody>("x"))).finished() }
        #expect(journal.entries.filter { $0 != "started" } == ["client", "notAuthorized", "client", "notAuthorized"])
        let (countName, deviceName) = (
            try #require(HTTPField.Name("X-Count")), try #require(HTTPField.Name("X-Device"))
        )
        #expect(bench.transport.sent.map { $0.headers[countName] } == ["1", "2"])
        #expect(bench.transport.sent.allSatisfy { $0.headers[deviceName] == "7" })
    }

    @Test(
        "C27 A process plugin sees each success of the client, with host and path, before the call's handler"
    )
    func clientWideSuccess() async throws {
        let plugin: any PluginType = .process { [journal] result, context in
            guard case .success(let response) = result, context.target.validationType.accepts(response.statusCode)
            else { return }
            journal.add("client \(response.request.host ?? "") \(response.request.path)")
        }
        let bench = APIBench(.ok, .status(500), .failure(.offline), plugins: [plugin])
        for _ in 0..<3 { await call(bench.api.call(APIRequest<IgnoredBody>("x"))).finished() }
        #expect(
            journal.entries.filter { $0 != "started" } == [
                "client api.example.com /v1/x", "success", "error unacceptableStatus", "networkUnavailable",
            ]
        )
    }
}

extension BusyActor {
    fileprivate func noteSuccess(of call: APICall<IgnoredBody>) -> APICall<IgnoredBody> {
        call.onSuccess { _ in self.note("success") }
    }
}

@MainActor
private final class View {
    var notes: [String] = []
}

private actor Counter {
    private(set) var count = 0

    func count(_ call: APICall<IgnoredBody>) -> APICall<IgnoredBody> {
        call.onError { _ in self.count += 1 }.onSuccess { _ in self.count += 1 }
    }
}

/// Blocks a thread until it is opened.
private final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func waitUntilOpen() { semaphore.waitForSignal() }

    func open() { semaphore.signal() }
}
