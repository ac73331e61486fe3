import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

// sample: ten lines
/// Lets equal requests for reports, which are POSTs, share one exchange.
struct ShareReports: Stage.Intercept, CapabilityDeclaring {
    private let sharing = DeduplicationPlugin(methods: [.post])
    var capabilities: Set<PluginCapability> { sharing.capabilities }

    func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        guard request.path.hasPrefix("/reports") else { return try await next(request) }
        return try await sharing.intercept(request, context: context, next: next)
    }
}
// end

extension ShareReports {
    fileprivate var callerCount: Int { sharing.callerCount }
}

// sample: sharing
/// Lets equal GET requests in flight share one exchange.
final class ShareGets: Stage.Intercept, CapabilityDeclaring {
    let capabilities: Set<PluginCapability> = [.sharesResponses]
    private let flights = Mutex<[Key: Flight]>([:])

    func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        guard let key = Key(request, context, next) else {
            context.share(nil)  // an exchange of its own
            return try await next(request)
        }
        let new = Flight(Stage.SharedDeadline(context.deadline))
        let flight = flights.withLock { flights in
            if let flight = flights[key], flight.join(context) { return flight }
            _ = new.join(context)
            flights[key] = new
            return new
        }
        let isLeading = flight === new
        if isLeading { lead(flight, key, request, context, next) } else { context.sentSignal?.note() }
        let ending = try await flight.ending(for: context)
        context.share(ending.shared, isJoined: !isLeading && ending.shared != nil)
        return isLeading || ending.shared != nil ? try ending.result.get() : try await next(request)
    }

    private func lead(
        _ flight: Flight,
        _ key: Key,
        _ request: PipelineRequest,
        _ context: PipelineContext,
        _ next: Stage.Next
    ) {
        let work = flight.deadline.run {
            next.start(request) { [self] result in
                flights.withLock { if $0[key] === flight { $0[key] = nil } }
                let result = await Self.inMemory(result, context)
                let sent = context.exchanges.map(\.request)
                let isPersonal =
                    context.identities != key.identities
                    || sent.contains { context.mayNameAccount($0, otherThan: request) }
                let isStale = context[Stage.StaleUse.self] == .available
                let shared = Stage.SharedOutcome(endedAt: context.clock.now, hasStaleResponse: isStale)
                flight.end(result, isPersonal ? nil : shared)
            }
        }
        flight.begin(work)
    }
}
// end

extension ShareGets {
    /// The number of calls that wait for an exchange.
    fileprivate var callerCount: Int {
        flights.withLock { flights in flights.values.reduce(0) { $0 + $1.callerCount } }
    }

    // sample: key
    /// What must be equal for two calls to share an exchange.
    struct Key: Hashable {
        let head: [String]
        let identities: [String]
        let options: [String]
        let timeouts: [Duration?]
        let position: Stage.Position

        init?(_ request: PipelineRequest, _ context: PipelineContext, _ next: Stage.Next) {
            guard request.method == .get, request.body.isAbsent, !context.wantsStream, let url = request.url,
                Stage.SharedDeadline.current == nil, context[Stage.StaleUse.self] != .required
            else { return nil }
            let fields = request.headers.filter { $0.name.canonicalName != "x-request-id" }
            head = [url.absoluteString] + fields.map { "\($0.name.canonicalName): \($0.value)" }.sorted()
            identities = context.identities
            options = context.options.sharingTexts
            timeouts = [request.attemptTimeout, request.idleTimeout]
            position = next.position
        }
    }
    // end

    private static func inMemory(
        _ result: Result<PipelineResponse, any Error>,
        _ context: PipelineContext
    ) async -> Result<PipelineResponse, any Error> {
        do {
            var response = try result.get()
            response.body = .bytes(try await response.body.collect(upTo: context.limits.bufferedBodyByteCount))
            return .success(response)
        } catch {
            return .failure(error)
        }
    }

    /// An exchange, and the calls that wait for it.
    fileprivate final class Flight: Sendable {
        struct Ending: Sendable {
            let result: Result<PipelineResponse, any Error>
            /// `nil` if the result belongs to the call that leads.
            let shared: Stage.SharedOutcome?
        }

        private struct State {
            var waiters: [Int: (stream: AsyncStream<Ending>, continuation: AsyncStream<Ending>.Continuation)] = [:]
            var isClosed = false
            var work: Task<Void, Never>?
        }

        let deadline: Stage.SharedDeadline
        private let state = Mutex(State())

        init(_ deadline: Stage.SharedDeadline) { self.deadline = deadline }

        var callerCount: Int { state.withLock { $0.waiters.count } }

        /// Adds a call, unless the exchange is over or another copy of the call's request waits for it.
        func join(_ context: PipelineContext) -> Bool {
            state.withLock { state in
                guard !state.isClosed, state.waiters[context.callID] == nil else { return false }
                state.waiters[context.callID] = AsyncStream<Ending>.makeStream()
                deadline.extend(to: context.deadline)
                return true
            }
        }

        /// Waits for the end; a cancelled call leaves, and the last one cancels the exchange.
        func ending(for context: PipelineContext) async throws -> Ending {
            if let endings = state.withLock({ $0.waiters[context.callID]?.stream }) {
                for await ending in endings { return ending }
            }
            let work = state.withLock { state in
                state.waiters[context.callID] = nil
                state.isClosed = state.isClosed || state.waiters.isEmpty
                return state.waiters.isEmpty ? state.work : nil
            }
            work?.cancel()
            throw CancellationError()
        }

        func begin(_ work: Task<Void, Never>) {
            let isAbandoned = state.withLock { state in
                state.work = work
                return state.isClosed
            }
            if isAbandoned { work.cancel() }
        }

        func end(_ result: Result<PipelineResponse, any Error>, _ shared: Stage.SharedOutcome?) {
            let waiters = state.withLock { state in
                state.isClosed = true
                return state.waiters.values.map(\.continuation)
            }
            for waiter in waiters {
                waiter.yield(Ending(result: result, shared: shared))
                waiter.finish()
            }
        }
    }
}

@Suite("The plugin in the guide SharingPlugins that shares responses", .watched)
struct ShareResponsesSamples {
    private let clock = ManualClock()
    private let transport = ScriptedTransport(always: .delayed(.seconds(1), .status(200)))

    private func provider(_ plugins: any PluginType...) -> Provider<URLTarget> {
        Provider(transport: transport, plugins: plugins, configuration: .init(clock: clock))
    }

    @Test("The plugin of the guide passes the conformance suite")
    func conformance() async {
        #expect(await PluginConformance { ShareGets() }.run() == [])
    }

    @Test("A plugin that runs DeduplicationPlugin inside shares what it chooses, and passes the conformance suite")
    func reports() async throws {
        #expect(await PluginConformance { ShareReports() }.run() == [])
        let plugin = ShareReports()
        let provider = provider(plugin)
        let calls = ["reports/1", "reports/1", "orders", "orders"].map { path in
            Task {
                let target = URLTarget("https://library.example/\(path)", method: .post)
                return try await provider.request(target).statusCode
            }
        }
        await eventually { plugin.callerCount == 2 && transport.sent.count == 3 && clock.sleeperCount == 3 }
        clock.advance(by: .seconds(1))
        for call in calls { #expect(try await call.value == 200) }
        #expect(transport.sent.count == 3)
    }

    @Test("Equal calls make one exchange, also when one of them is cancelled; other calls make their own")
    func shares() async throws {
        let plugin = ShareGets()
        let provider = provider(plugin)
        let urls = ["a", "a", "a", "b"].map { "https://library.example/\($0)" }
        let calls = urls.map { url in Task { try await provider.request(URLTarget(url)).statusCode } }
        await eventually { plugin.callerCount == 4 && transport.sent.count == 2 && clock.sleeperCount == 2 }
        calls[0].cancel()
        await #expect(throws: CancellationError.self) { try await calls[0].value }
        clock.advance(by: .seconds(1))
        for call in calls.dropFirst() { #expect(try await call.value == 200) }
        #expect(transport.sent.count == 2)
    }
}
