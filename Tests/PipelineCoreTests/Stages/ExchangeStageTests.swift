import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Exchange stage: rules 7 to 10, 12 and 13", .tags(.concurrent), .watched)
struct ExchangeStageTests {
    static let mark = HTTPField.Name("X-Mark") ?? .userAgent

    let journal = Journal()
    let clock = ManualClock()

    func provider(_ transport: any Transport, _ plugins: any PluginType...) -> Provider<TestTarget> {
        Provider(transport: transport, plugins: plugins, configuration: .init(clock: clock))
    }

    func noting(_ name: String) -> PluginStack {
        .exchange(name: name) { [journal] request, context, send in
            journal.add("\(name) in \(context.attempt).\(context.hop)")
            let response = try await send(request)
            journal.add("\(name) out")
            return response
        }
    }

    var observer: any PluginType { Observer(journal: journal) }

    /// Records what crosses the wire.
    private struct Observer: Stage.WillSend, Stage.DidReceive {
        let journal: Journal

        func willSend(_ request: PipelineRequest, context: PipelineContext) {
            journal.add("send \(request.path)")
        }

        func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
            switch result {
            case .success(let response): journal.add("got \(response.statusCode) \(response.body)")
            case .failure(let error): journal.add("got \(error.code)")
            }
        }
    }

    // MARK: Order

    @Test("Rule 7: the hop level is inside the whole call level, and list order applies within each")
    func levels() async throws {
        let again = PluginStack.intercept(name: "again") { request, _, next in
            _ = try await next(request)
            return try await next(request)
        }
        let provider = provider(
            ScriptedTransport(always: .status(200)),
            noting("A"),
            again,
            noting("B"),
            Layer(name: "L", journal: journal)
        )
        _ = try await provider.request(TestTarget())
        let pass = { (attempt: Int) in
            ["L.prepare", "A in \(attempt).0", "B in \(attempt).0", "B out", "A out", "L.process"]
        }
        #expect(journal.entries == pass(1) + pass(2))
    }

    @Test("Rule 7: explain() prints the levels separately, and findings follow the effective order")
    func explained() {
        let retry = PluginStack.intercept(name: "retry", capabilities: [.retries]) { request, _, next in
            try await next(request)
        }
        let signer = PluginStack.exchange(name: "signer", capabilities: [.signs]) { request, _, send in
            try await send(request)
        }
        let description = provider(ScriptedTransport([]), signer, noting("log"), retry).explain()
        #expect(
            "\(description)" == """
                call
                └─ 3 retry            intercept
                hop (each attempt and redirect)
                └─ 1 signer           exchange
                   └─ 2 log           exchange
                wire (each exchange)
                └─ ScriptedTransport  bodies arrive as on the wire
                findings: none
                """
        )
    }

    @Test("An identity set at the call level makes a hop-level credential safe to share if it comes first")
    func identity() {
        struct Signer: Stage.Prepare, Stage.Exchange, CapabilityDeclaring {
            var capabilities: Set<PluginCapability> = [.setsCredential, .identifiesCalls]

            func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {}

            func exchange(
                _ request: PipelineRequest,
                context: PipelineContext,
                send: Stage.Send
            ) async throws -> PipelineResponse {
                try await send(request)
            }
        }
        let share = PluginStack.intercept(name: "share", capabilities: [.sharesResponses]) { request, _, next in
            try await next(request)
        }
        func ids(_ plugins: any PluginType...) -> [String] {
            Provider<TestTarget>(transport: ScriptedTransport([]), plugins: plugins).explain().findings.map(\.id)
        }
        #expect(ids(Signer(), share).isEmpty)
        #expect(ids(share, Signer()) == ["sharing-outside-identity"])
        for capability in [PluginCapability.setsCredential, .signs] {
            #expect(ids(Signer(capabilities: [capability]), share) == ["sharing-outside-credential"])
            #expect(ids(Signer(capabilities: [capability, .identifiesCalls]), share).isEmpty)
        }
        let key = PluginStack.prepare(name: "key", capabilities: [.setsCredential]) { _, _ in }
        let stack: [any PluginType] = [share, key, Signer(capabilities: [.signs])]
        let provider = Provider<TestTarget>(transport: ScriptedTransport([]), plugins: stack)
        #expect(
            provider.explain().findings.map(\.remedy) == [
                """
                move share inside key, and call addIdentity(_:of:) in the prepare stage of Signer and declare identifiesCalls
                """
            ]
        )
    }

    // MARK: Sending

    @Test("Rule 8: each exchange plugin runs per hop, and each send is an exchange")
    func perHop() async throws {
        let transport = ScriptedTransport([
            .status(302, headers: [.location: "/b"]), .status(503), .status(200, body: "ok"),
        ])
        let retry = PluginStack.exchange(name: "retry") { request, context, send in
            let response = try await send(request)
            return response.statusCode == 503 ? try await send(request) : response
        }
        let response = try await provider(transport, observer, noting("A"), retry).request(TestTarget())
        #expect(response.data == Data("ok".utf8))
        #expect(response.exchanges.map { "\($0.hop) \($0.statusCode ?? 0)" } == ["0 302", "1 503", "1 200"])
        #expect(
            journal.entries == [
                "A in 1.0", "send /v1/items", "got 302 0 bytes", "A out", "A in 1.1", "send /b", "got 503 0 bytes",
                "send /b",
                "got 200 2 bytes", "A out",
            ]
        )
    }

    @Test("Rule 8: sends may run concurrently, and the losing exchange is cancelled")
    func hedging() async throws {
        let transport = ScriptedTransport { _, index in index == 0 ? .hang : .status(200, body: "\(index)") }
        let hedge = PluginStack.exchange(name: "hedge") { request, _, send in
            try await withThrowingTaskGroup(of: PipelineResponse.self) { group in
                group.addTask { try await send(request) }
                await eventually { transport.sent.count == 1 }
                group.addTask { try await send(request) }
                defer { group.cancelAll() }
                guard let first = try await group.next() else { throw TestFailure() }
                return first
            }
        }
        let response = try await provider(transport, observer, hedge).request(TestTarget())
        #expect(response.data == Data("1".utf8))
        #expect(Set(response.exchanges.map { $0.failure == .cancelled }) == [true, false])
        #expect(journal.entries.count { $0.hasPrefix("send") } == 2)
        #expect(journal.entries.count { $0.hasPrefix("got") } == 2)
    }

    @Test("Rule 8: send throws after the plugin has returned, and sends nothing")
    func late() async throws {
        let kept = Mutex<Stage.Send?>(nil)
        let keeping = PluginStack.exchange(name: "keeping") { request, _, send in
            kept.withLock { $0 = send }
            return try await send(request)
        }
        let transport = ScriptedTransport(always: .status(200))
        let response = try await provider(transport, keeping).request(TestTarget())
        let send = try #require(kept.withLock { $0 })
        let error = await #expect(throws: PipelineError.self) { try await send(response.request) }
        #expect(error?.code == .plugin)
        #expect(transport.sent.count == 1)
    }

    @Test("Rule 9: the body of a send that outlives its plugin is closed, and observers see its end")
    func unawaited() async throws {
        let (gate, opener) = AsyncStream.makeStream(of: Never.self)
        let transport = ScriptedTransport { [self] _, _ in
            .answer { request, _ in
                for await _ in gate {}
                return PipelineResponse(
                    request: request,
                    head: HTTPResponse(status: .ok),
                    body: stream(["a"], endless: true)
                )
            }
        }
        let work = Mutex<Task<Void, Never>?>(nil)
        let leaving = PluginStack.exchange(name: "leaving") { request, _, send in
            let task = Task { _ = try? await send(request) }
            work.withLock { $0 = task }
            await eventually { transport.sent.count == 1 }
            return PipelineResponse(request: request, statusCode: 203)
        }
        #expect(try await provider(transport, observer, leaving).request(TestTarget()).statusCode == 203)
        #expect(journal.entries == ["send /v1/items"])
        opener.finish()
        #expect(try await clock.advanceToNextSleeper() == .seconds(1))
        await work.withLock { $0 }?.value
        #expect(Set(journal.entries) == ["send /v1/items", "closed", "got 200 no body"])
    }

    @Test("Rule 9: observers see a failure if a body ends early")
    func truncated() async throws {
        let body = AsyncStream<Data> { continuation in
            continuation.yield(Data("four".utf8))
            continuation.finish()
        }
        let transport = ScriptedTransport(always: .status(200, body: .stream(body, byteCount: 10)))
        let error = await #expect(throws: PipelineError.self) {
            try await provider(transport, observer, noting("A")).request(TestTarget())
        }
        #expect(error?.code == .truncated)
        #expect(error?.exchanges.map(\.failure) == [.truncated])
        #expect(journal.entries.last == "got truncated")
    }

    @Test("Rule 8: a body that cannot be replayed is not sent twice, not even concurrently")
    func unreplayable() async throws {
        let transport = ScriptedTransport(always: .status(503))
        let twice = PluginStack.exchange(name: "twice") { request, _, send in
            async let first = send(request)
            async let second = send(request)
            return try await [first, second][0]
        }
        let body = AsyncStream<Data> { $0.finish() }
        let target = TestTarget(method: .post, task: .requestStream(.stream(body)))
        let error = await #expect(throws: PipelineError.self) {
            try await provider(transport, observer, twice).request(target)
        }
        #expect(error?.code == .bodyConsumed)
        #expect(transport.sent.count == 1)
        #expect(journal.entries.count { $0.hasPrefix("send") } == 1)
    }

    @Test("Rule 15: a plugin that keeps sending stops at the exchange limit")
    func manyExchanges() async throws {
        let transport = ScriptedTransport(always: .status(503))
        let flood = PluginStack.exchange(name: "flood") { request, _, send in
            while true { _ = try await send(request) }
        }
        var limits = ProviderConfiguration.Limits()
        limits.exchangeCount = 5
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [flood],
            configuration: .init(limits: limits)
        )
        let error = await #expect(throws: PipelineError.self) { try await provider.request(TestTarget()) }
        #expect(error?.code == .limit(.exchanges))
        #expect(transport.sent.count == 5)
        #expect(error?.exchanges.count == 5)
    }

    @Test("Rule 15: concurrent sends stop at the exchange limit too")
    func concurrentFlood() async throws {
        let transport = ScriptedTransport(always: .hang)
        let flood = PluginStack.exchange(name: "flood") { request, _, send in
            try await withThrowingTaskGroup(of: PipelineResponse.self) { group in
                for _ in 0..<20 { group.addTask { try await send(request) } }
                defer { group.cancelAll() }
                // The first send to end is one that was refused.
                guard let first = try await group.next() else { throw TestFailure() }
                return first
            }
        }
        var limits = ProviderConfiguration.Limits()
        limits.exchangeCount = 5
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [flood],
            configuration: .init(limits: limits)
        )
        let error = await #expect(throws: PipelineError.self) { try await provider.request(TestTarget()) }
        #expect(error?.code == .limit(.exchanges))
        #expect(transport.sent.count <= 5)
    }

    @Test("C14 Each concurrent exchange of a hop has its own wait for a connection")
    func connectionWaits() async throws {
        let connected = Mutex(0)
        let transport = ScriptedTransport { _, index in
            .answer { request, context in
                context.report(.connectionAwaited)
                try await context.clock.sleep(for: .seconds(index + 1))
                context.report(.connection())
                connected.withLock { $0 += 1 }
                return PipelineResponse(request: request, statusCode: 200)
            }
        }
        let twice = PluginStack.exchange(name: "twice") { request, _, send in
            async let first = send(request)
            await eventually { transport.sent.count == 1 }
            async let second = send(request)
            return try await [first, second][1]
        }
        let provider = provider(transport, twice)
        let call = Task { try await provider.request(TestTarget()) }
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        await eventually { connected.withLock { $0 } == 1 }
        clock.advance(by: .seconds(1))
        // The scheduler decides which of the two is recorded first.
        let waits = try await call.value.exchanges.map(\.connectionWait)
        #expect(Set(waits) == [.seconds(1), .seconds(2)] && waits.count == 2)
    }

    @Test("An error thrown by an exchange plugin names the plugin and stage; one that it passes on does not")
    func thrown() async throws {
        let throwing = PluginStack.exchange(name: "throwing") { _, _, _ in throw TestFailure() }
        let error = await #expect(throws: PipelineError.self) {
            try await provider(ScriptedTransport([]), noting("A"), throwing).request(TestTarget())
        }
        #expect(error?.code == .plugin)
        #expect(error?.plugin == "throwing")
        #expect(error?.stage == .exchange)
        let failing = ScriptedTransport(always: .failure(.dns))
        let passed = await #expect(throws: PipelineError.self) {
            try await provider(failing, noting("A")).request(TestTarget())
        }
        #expect(passed?.code == .dns)
        #expect(passed?.plugin == nil)
    }

    // MARK: Responses of plugins

    @Test("Rule 10: a plugin's own response has the request that entered it, its source, and no exchange")
    func own() async throws {
        let marking = PluginStack.exchange(name: "marking") { request, _, send in
            var request = request
            try request.setHeader("1", for: Self.mark)
            return try await send(request)
        }
        let offline = PluginStack.exchange(name: "offline") { request, _, _ in
            var other = request
            other.head.path = "/other"
            return PipelineResponse(request: other, statusCode: 200, data: Data("offline".utf8))
        }
        let transport = ScriptedTransport(always: .status(200))
        let response = try await provider(transport, observer, marking, offline).request(TestTarget())
        #expect(response.request.path == "/v1/items")
        #expect(response.request.headers[Self.mark] == "1")
        #expect(response.source == PipelineResponse.Source(rawValue: "offline"))
        #expect(response.exchanges.isEmpty)
        #expect(journal.entries.isEmpty)
        let network = try await provider(transport, marking).request(TestTarget())
        #expect(network.source == .network)
    }

    @Test("Rule 10: a response cached by another call has the cache as source and gets this call's request")
    func kept() async throws {
        let kept = Mutex<PipelineResponse?>(nil)
        let cache = PluginStack.exchange(name: "cache") { request, _, send in
            if var response = kept.withLock({ $0 }) {
                if request.path != "/v1/plain" { response.source = .cache }
                return response
            }
            let response = try await send(request)
            kept.withLock { $0 = response }
            return response
        }
        let transport = ScriptedTransport(always: .status(200, body: "x"))
        let provider = provider(transport, cache)
        let first = try await provider.request(TestTarget())
        #expect(first.source == .network)
        let second = try await provider.request(TestTarget(path: "/other"))
        #expect(second.source == .cache)
        #expect(second.request.path == "/v1/other")
        #expect(second.exchanges.isEmpty)
        #expect(try await provider.request(TestTarget(path: "/plain")).source?.rawValue == "cache")
        #expect(transport.sent.count == 1)
    }

    @Test("Rule 10: a redirect returned by a plugin is followed and counts as a hop")
    func ownRedirect() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let moving = PluginStack.exchange(name: "moving") { request, context, send in
            guard context.hop < 2 else { return try await send(request) }
            return PipelineResponse(request: request, statusCode: 307, headers: [.location: "/hop\(context.hop + 1)"])
        }
        let response = try await provider(transport, moving).request(TestTarget())
        #expect(transport.sent.map(\.path) == ["/hop2"])
        #expect(response.exchanges.map(\.hop) == [2])
    }

    // MARK: Checks

    @Test("Rule 12: a path that could split the request is refused after the last exchange plugin")
    func checked() async throws {
        let breaking = PluginStack.exchange(name: "breaking") { request, _, send in
            var request = request
            request.head.path = "/a b"
            return try await send(request)
        }
        let transport = ScriptedTransport(always: .status(200))
        let error = await #expect(throws: PipelineError.self) {
            try await provider(transport, observer, breaking).request(TestTarget())
        }
        #expect(error?.code.isKind(of: .invalidRequest) == true)
        #expect(transport.sent.isEmpty)
        #expect(journal.entries.isEmpty)
        let mending = PluginStack.exchange(name: "mending") { request, _, send in
            var request = request
            request.head.path = "/a%20b"
            return try await send(request)
        }
        #expect(try await provider(transport, breaking, mending).request(TestTarget()).statusCode == 200)
    }

    @Test("Rule 13: the attempt timeout applies to each send separately, and not to a plugin's own wait")
    func attemptTimeout() async throws {
        let transport = ScriptedTransport { _, index in index == 0 ? .hang : .delayed(.seconds(4), .status(200)) }
        let retry = PluginStack.exchange(name: "retry") { request, context, send in
            do {
                return try await send(request)
            } catch {
                try await context.clock.sleep(for: .seconds(60))
                return try await send(request)
            }
        }
        let provider = provider(transport, retry)
        let options = RequestOptions { $0.attemptTimeout = .seconds(5) }
        let call = Task { try await provider.request(TestTarget(), options: options) }
        #expect(try await clock.advanceToNextSleeper() == .seconds(5))
        #expect(try await clock.advanceToNextSleeper() == .seconds(60))
        // The attempt and the transport wait at the same time.
        try await clock.waitForSleepers(2)
        #expect(try await clock.advanceToNextSleeper() == .seconds(4))
        let response = try await call.value
        #expect(response.exchanges.map(\.failure) == [.timeout(.attempt), nil])
    }

    @Test("Rule 13: the attempt timeout of a buffered call includes the body")
    func attemptTimeoutOfBody() async throws {
        let feed = Feed()
        let transport = ScriptedTransport(always: .delayed(.seconds(2), .status(200, body: .stream(feed))))
        let provider = provider(transport, noting("A"))
        let options = RequestOptions { $0.attemptTimeout = .seconds(5) }
        let call = Task { try await provider.request(TestTarget(), options: options) }
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(2))
        await eventually { journal.entries.contains("A out") }
        try await clock.waitForSleepers(1)
        clock.advance(by: .seconds(3))
        let error = await #expect(throws: PipelineError.self) { try await call.value }
        #expect(error?.code == .timeout(.attempt))
    }

    @Test("Rule 6: a call cancelled while an exchange plugin waits or sends ends immediately")
    func cancelled() async throws {
        let waiting = PluginStack.exchange(name: "waiting") { request, context, send in
            try await context.clock.sleep(for: .seconds(60))
            return try await send(request)
        }
        for plugin in [waiting, noting("A")] {
            let transport = ScriptedTransport(always: .delayed(.seconds(60), .status(200)))
            let provider = provider(transport, plugin)
            let call = Task { try await provider.request(TestTarget()) }
            try await clock.waitForSleepers(1)
            call.cancel()
            await #expect(throws: CancellationError.self) { _ = try await call.value }
            #expect(clock.sleeperCount == 0)
        }
    }
}
