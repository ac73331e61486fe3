import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Rule 21: background calls", .tags(.concurrent), .watched)
struct BackgroundCallTests {
    /// Responds with a stale response and refreshes it in the background.
    final class StaleCache: Stage.Intercept {
        let kept = Mutex<[String]>([])
        let refused = Atomic(0)

        func intercept(
            _ request: PipelineRequest,
            context: PipelineContext,
            next: Stage.Next
        ) async throws -> PipelineResponse {
            let task = next.startBackgroundCall(request) { result in
                let text = (try? result.get()).map { String(decoding: $0.data, as: UTF8.self) } ?? "failed"
                self.kept.withLock { $0.append(text) }
            }
            if task == nil { refused.add(1, ordering: .relaxed) }
            return PipelineResponse(request: request, statusCode: 203, data: Data("stale".utf8))
        }
    }

    /// The same for a hop.
    private struct StaleHop: Stage.Exchange {
        let kept: Journal
        var readsBody = true

        func exchange(
            _ request: PipelineRequest,
            context: PipelineContext,
            send: Stage.Send
        ) async throws -> PipelineResponse {
            send.startBackgroundCall(request) { result in
                guard let response = try? result.get() else { return kept.add("failed") }
                let bytes = readsBody ? try? await response.body.collect(upTo: 1 << 20) : nil
                kept.add("\(response.statusCode) \(response.request.path) \(bytes?.count ?? 0)")
            }
            return PipelineResponse(request: request, statusCode: 203)
        }
    }

    private let clock = ManualClock()
    private let journal = Journal()
    private let cache = StaleCache()

    private func provider(
        _ transport: ScriptedTransport,
        limits: ProviderConfiguration.Limits = ProviderConfiguration.Limits(),
        _ plugins: any PluginType...
    ) -> Provider<TestTarget> {
        Provider(transport: transport, plugins: plugins, configuration: .init(limits: limits, clock: clock))
    }

    private var delayed: ScriptedTransport {
        ScriptedTransport(always: .delayed(.seconds(5), .status(200, body: "new")))
    }

    private func note(_ text: String, _ context: PipelineContext) {
        journal.add("\(text) \(context.callID) of \(context.parentID.map(String.init) ?? "none")")
    }

    @Test("A background call outlives its parent, runs the plugins inside, and has its own ID and outcome")
    func outlives() async throws {
        let outside = PluginStack.prepare { [self] _, context in note("outside", context) }
        let inside = PluginStack.prepare { [self] _, context in note("inside", context) }
        let sent = PluginStack.willSend { [self] _, context in note("sent", context) }
        let end = PluginStack.didFinish { [self] outcome, context in
            note("\(outcome.kind) with \(outcome.exchanges.count)", context)
        }
        let provider = provider(delayed, outside, end, cache, inside, sent)
        #expect(try await provider.request(TestTarget()).statusCode == 203)
        try await clock.waitForSleepers()
        #expect(journal.entries.filter { $0.hasSuffix("none") } == ["outside 1 of none", "success with 0 1 of none"])
        #expect(cache.kept.withLock { $0 }.isEmpty)
        async let isDrained = provider.drain(within: .seconds(9))
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(5))
        #expect(await isDrained)
        #expect(cache.kept.withLock { $0 } == ["new"])
        let ofChild = journal.entries.filter { $0.hasSuffix("of 1") }
        #expect(ofChild == ["inside 2 of 1", "sent 2 of 1", "success with 1 2 of 1"])
    }

    @Test("A background call inherits options, identities and inheritable values, but not the deadline")
    func inheritance() async throws {
        enum Note: PipelineContext.Key { static let defaultValue = "none" }
        enum Kept: PipelineContext.Key {
            static let defaultValue = "none"
            static let isInherited = true
        }
        enum Colour: RequestOptions.Key { static let defaultValue = "none" }
        let outside = PluginStack.prepare { _, context in
            context.addIdentity("account")
            context.setDeadline(context.clock.now.advanced(by: .seconds(1)))
            context.update(Note.self) { $0 = "outside" }
            context.update(Kept.self) { $0 = "kept" }
        }
        let inside = PluginStack.prepare { [journal] _, context in
            let texts = ["\(context.identities)", "\(context.deadline == nil)", context[Note.self], context[Kept.self]]
            journal.add((texts + [context.options[Colour.self]]).joined(separator: " "))
        }
        var options = RequestOptions()
        options[Colour.self] = "red"
        let provider = Provider<TestTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [outside, cache, inside],
            configuration: .init(unhandledOptions: .ignore, clock: clock)
        )
        _ = try await provider.request(TestTarget(), options: options)
        #expect(await provider.drain(within: .seconds(1)))
        #expect(journal.entries == ["[\"account\"] true none kept red"])
    }

    @Test("A background call is not cancelled with its parent and writes no file for a download")
    func cancelledParent() async throws {
        let folder = try TemporaryFolder()
        let hold = PluginStack.intercept { request, context, next in
            let response = try await next(request)
            try await context.clock.sleep(for: .seconds(60))
            return response
        }
        let provider = provider(delayed, hold, cache)
        let destination = DownloadDestination.file(folder.file("done"))
        let call = Task { try await provider.request(TestTarget(task: .downloadDestination(destination))) }
        try await clock.waitForSleepers(2)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        clock.advance(by: .seconds(5))
        #expect(await provider.drain(within: .seconds(1)))
        #expect(cache.kept.withLock { $0 } == ["new"])
        #expect(folder.text(of: "done") == nil)
    }

    @Test("Background calls that start further background calls stop at the limit of nested calls")
    func nested() async throws {
        let again = PluginStack.intercept { [journal] request, context, next in
            journal.add("\(context.callID)")
            next.startBackgroundCall(request) { _ in }
            return try await next(request)
        }
        let provider = provider(
            ScriptedTransport(always: .status(200)),
            limits: ProviderConfiguration.Limits(nestedCallCount: 3),
            again,
            again,
            again,
            again,
            again
        )
        _ = try await provider.request(TestTarget())
        #expect(await provider.drain(within: .seconds(1)))
        #expect(journal.entries.count == 5 + 10 + 10)
    }

    @Test("A background call is refused if the body cannot be replayed, because the parent may send it")
    func oneShot() async throws {
        let provider = provider(delayed, cache)
        let body = AsyncStream<Data> { $0.finish() }
        _ = try await provider.request(TestTarget(method: .post, task: .requestStream(.stream(body))))
        #expect(cache.refused.load(ordering: .relaxed) == 1)
    }

    // MARK: Hops

    @Test("A background call of an exchange plugin runs the plugins inside its hop and follows no redirect")
    func hop() async throws {
        let inside = PluginStack.exchange { [self] request, context, send in
            note("inside \(context.hop) \(context.hasLeftOrigin)", context)
            return try await send(request)
        }
        let leading = PluginStack.exchange { request, context, send in
            guard context.hop == 0, context.parentID == nil else { return try await send(request) }
            let there: HTTPFields = [.location: "https://other.example.com/there"]
            return PipelineResponse(request: request, statusCode: 302, headers: there)
        }
        let large = AsyncStream<Data> { continuation in
            continuation.yield(Data(count: 100_000))
            continuation.finish()
        }
        let step = ScriptedTransport.Step.status(307, headers: [.location: "/elsewhere"], body: .stream(large))
        let transport = ScriptedTransport([step])
        let provider = provider(transport, leading, StaleHop(kept: journal), inside)
        #expect(try await provider.request(TestTarget()).statusCode == 203)
        #expect(await provider.drain(within: .seconds(1)))
        #expect(journal.entries == ["inside 1 true 2 of 1", "307 /there 100000"])
        #expect(transport.sent.count == 1)
    }

    @Test("A background call of an exchange plugin that does not read the body ends, and closes the exchange")
    func unread() async throws {
        let (body, pieces) = AsyncStream<Data>.makeStream()
        pieces.yield(Data(count: 10))
        let end = PluginStack.didFinish { [self] outcome, context in note("\(outcome.kind)", context) }
        let received = PluginStack.didReceive { [self] result, context in
            note("received \((try? result.get())?.body.byteCount ?? -1)", context)
        }
        let transport = ScriptedTransport([.status(200, body: .stream(body))])
        let provider = provider(transport, StaleHop(kept: journal, readsBody: false), end, received)
        #expect(try await provider.request(TestTarget()).statusCode == 203)
        // The body does not end, so its exchange is closed when the time for discarded bodies is over.
        try await clock.advanceToNextSleeper()
        #expect(await provider.drain(within: .seconds(60)))
        let ofChild = journal.entries.filter { !$0.hasSuffix("none") }
        #expect(ofChild == ["200 /v1/items 0", "received 0 2 of 1", "success 2 of 1"])
    }
}
