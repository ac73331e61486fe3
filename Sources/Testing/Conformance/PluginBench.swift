import Foundation
import HTTPTypes
import PipelineCore
import Synchronization

/// The plugin, the clock and the limits of one check.
struct PluginBench: Sendable {
    let plugin: any PluginType
    let patience: Duration
    let clock = ManualClock()
    /// The longest wait of a call for something other than the clock.
    let otherWait = WaitableValue(Duration.zero)

    func provider(_ transport: ScriptedTransport, with others: [any PluginType] = []) -> Provider<PluginProbe> {
        Provider(
            transport: transport,
            plugins: others + [plugin],
            // The plugin is alone, so its place in a stack is not checked.
            configuration: .init(unhandledOptions: .fail, findings: .report { _ in }, clock: clock)
        )
    }

    /// Returns the outcome of one call of a new provider.
    @discardableResult
    func outcome(
        of probe: PluginProbe = PluginProbe(),
        _ step: ScriptedTransport.Step,
        with others: [any PluginType] = []
    ) async -> ObservedCall<PipelineResponse>.Outcome {
        let provider = provider(ScriptedTransport(always: step), with: others)
        return await outcome { try await provider.request(probe) }
    }

    /// Returns the outcome of work, with as much virtual time as it needs; `progress` returns a number that changes as
    /// long as the work makes progress without the clock.
    @discardableResult
    func outcome<Value: Sendable>(
        progress: () -> Int = { 0 },
        of work: @escaping @Sendable () async throws -> Value
    ) async -> ObservedCall<Value>.Outcome {
        let call = ObservedCall(work)
        await wait(progress: progress) { call.hasEnded }
        // Read first, because a call that hangs may end when it is cancelled.
        let outcome = call.outcome
        call.cancel()
        return outcome
    }

    /// Starts a number of calls at once and returns them when all have ended or hang.
    func calls(
        _ count: Int,
        of provider: Provider<PluginProbe>,
        _ makeProbe: (Int) -> PluginProbe
    ) async -> [ObservedCall<PipelineResponse>.Outcome] {
        let calls = (0..<count).map { number in
            let probe = makeProbe(number)
            return ObservedCall { try await provider.request(probe) }
        }
        await wait(progress: { calls.count(where: \.hasEnded) }, until: { calls.allSatisfy(\.hasEnded) })
        let outcomes = calls.map(\.outcome)
        for call in calls { call.cancel() }
        return outcomes
    }

    private func wait(progress: () -> Int, until condition: () -> Bool) async {
        let wait = await Patience.wait(patience, moving: clock, progress: progress, until: condition)
        otherWait.update { $0 = max($0, wait) }
    }

    /// Cancels a call while it waits, for the plugin or for the response, which never comes.
    ///
    /// No time passes, so a plugin that waits is cancelled while it waits.
    ///
    /// - Returns: the outcome; `nil` if the call ended before it was cancelled.
    @discardableResult
    func cancelledOutcome(
        _ provider: Provider<PluginProbe>,
        _ transport: ScriptedTransport
    ) async -> ObservedCall<PipelineResponse>.Outcome? {
        let call = ObservedCall { try await provider.request(PluginProbe()) }
        await Patience.wait(patience, moving: nil) {
            call.hasEnded || !transport.sent.isEmpty || clock.sleeperCount > 0
        }
        guard !call.hasEnded else { return nil }
        call.cancel()
        await Patience.wait(patience, moving: nil) { call.hasEnded }
        return call.outcome
    }
}

/// The target that the checks call.
struct PluginProbe: TargetType, AccessTokenAuthorizable {
    var number = 0
    var query = ""
    var task: RequestTask = .requestPlain
    var headers: [String: String]?
    var validationType: ValidationType = .anyStatus

    var baseURL: URL { URL(string: "https://conformance.test" + query) ?? URL(filePath: "/") }
    var path: String { "calls/\(number)" }
    var method: HTTPMethod { .get }
    var authorizationType: AuthorizationType? { .bearer }
}

/// Counts the exchanges that are open and the calls that have ended.
final class CallCounter: Stage.WillSend, Stage.DidReceive, Stage.DidFinish {
    private let counts = Mutex((open: 0, finished: 0))

    var openCount: Int { counts.withLock { $0.open } }

    func willSend(_ request: PipelineRequest, context: PipelineContext) {
        counts.withLock { $0.open += 1 }
    }

    func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
        counts.withLock { $0.open -= 1 }
    }

    func didFinish(_ outcome: Stage.Outcome, context: PipelineContext) {
        counts.withLock { $0.finished += 1 }
    }

    /// The violations of `finish` by a provider that has made one call.
    func violations(_ what: String) -> [String] {
        let count = counts.withLock { $0.finished }
        return count == 1 ? [] : ["for a call \(what), didFinish ran \(count) times, not once"]
    }
}
