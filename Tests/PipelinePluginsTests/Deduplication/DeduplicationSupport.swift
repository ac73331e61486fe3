import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// Equal calls over a transport that responds after a second of virtual time.
struct DeduplicationBench: Sendable {
    let clock = ManualClock()
    let plugin: DeduplicationPlugin
    let transport: ScriptedTransport
    let provider: Provider<Ask>

    /// - Parameters:
    ///   - plugin: the plugin.
    ///   - outside: the plugins outside it.
    ///   - inside: the plugins inside it.
    ///   - step: what the transport returns a second later, by the number of the request.
    init(
        _ plugin: DeduplicationPlugin = DeduplicationPlugin(),
        outside: [any PluginType] = [],
        inside: [any PluginType] = [],
        _ step: @escaping @Sendable (Int) -> ScriptedTransport.Step = { .status(200, body: "answer \($0)") }
    ) {
        self.plugin = plugin
        transport = ScriptedTransport { _, index in .delayed(.seconds(1), step(index)) }
        provider = Provider(
            transport: transport,
            plugins: outside + [plugin] + inside,
            configuration: .init(clock: clock)
        )
    }

    typealias Call = Task<PipelineResponse, any Error>

    /// Starts a call and returns once one more caller waits, one more request was sent, or both.
    ///
    /// Pass `false` for `sends` if the request of a leading call does not reach the transport yet.
    func begin(
        _ target: Ask = Ask(),
        _ options: RequestOptions = RequestOptions(),
        sends: Bool = true
    ) async -> Call {
        let (callers, exchanges, sent) = (plugin.callerCount, plugin.inflightCount, transport.sent.count)
        let call = Task { try await provider.request(target, options: options) }
        await eventually { plugin.callerCount > callers || transport.sent.count > sent }
        // A leading call is counted before it is sent; the next call must not mistake that request for its own.
        if sends, plugin.inflightCount > exchanges { await eventually { transport.sent.count > sent } }
        return call
    }

    /// Starts `count` equal calls, the leader first, and returns once all wait for one exchange.
    func begin(_ count: Int, _ target: @Sendable (Int) -> Ask = { _ in Ask() }) async -> [Call] {
        var calls = [await begin(target(0))]
        for number in 1..<count {
            let target = target(number)
            calls.append(Task { try await provider.request(target) })
        }
        await eventually { plugin.callerCount == count && clock.sleeperCount == 1 }
        return calls
    }

    /// Waits for `count` sent requests and lets their responses arrive.
    func answer(_ count: Int = 1) async {
        await eventually { clock.sleeperCount == count }
        clock.advance(by: .seconds(1))
    }

    /// Advances the clock until no caller waits for a shared exchange.
    func runOut() async {
        await eventually {
            clock.advanceIfAnyoneSleeps()
            return plugin.callerCount == 0
        }
    }

    /// Advances the clock until the calls have ended; they may leave one shared exchange and join another.
    func runOut(_ calls: [Call]) async {
        let end = Flag()
        let waiting = Task {
            for call in calls { _ = await call.result }
            end.isSet.store(true, ordering: .releasing)
        }
        await eventually {
            clock.advanceIfAnyoneSleeps()
            return end.isSet.load(ordering: .acquiring)
        }
        await waiting.value
    }

    private final class Flag: Sendable {
        let isSet = Atomic(false)
    }
}

/// Returns a plugin that retries a 503, with at most `attempts` attempts, and counts each retry in `tally`.
func sendAgain(_ attempts: Int = 2, _ tally: Tally = Tally()) -> any PluginType {
    .intercept(name: "again") { request, _, next in
        var response = try await next(request)
        for _ in 1..<attempts where response.statusCode == 503 {
            tally.add()
            response = try await next(request)
        }
        return response
    }
}

extension [DeduplicationBench.Call] {
    /// The results of the calls, in order.
    var results: [Result<PipelineResponse, any Error>] {
        get async {
            var results: [Result<PipelineResponse, any Error>] = []
            for call in self { results.append(await call.result) }
            return results
        }
    }
}
