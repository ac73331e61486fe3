import Foundation
import HTTPTypes
import PipelineCore
import Synchronization

/// The plugin, the clock and the limits of one check.
struct PluginBench: Sendable {
    let plugin: any PluginType
    let patience: Duration
    let clock = ManualClock()

    func provider(_ transport: ScriptedTransport, with others: [any PluginType] = []) -> Provider<PluginProbe> {
        Provider(
            transport: transport,
            plugins: others + [plugin],
            // The plugin is alone, so its place in a stack is not checked.
            configuration: .init(unhandledOptions: .fail, findings: .report { _ in }, clock: clock)
        )
    }

    /// Returns the outcome of one call, with as much virtual time as it needs.
    func outcome(
        of probe: PluginProbe = PluginProbe(),
        _ step: ScriptedTransport.Step,
        with others: [any PluginType] = []
    ) async -> ObservedCall<PipelineResponse>.Outcome {
        let provider = provider(ScriptedTransport(always: step), with: others)
        return await ObservedCall { try await provider.request(probe) }.end(moving: clock, patience: patience)
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

/// Counts the exchanges that have begun and not ended.
final class OpenExchanges: Stage.WillSend, Stage.DidReceive {
    private let count = Mutex(0)

    var current: Int { count.withLock { $0 } }

    func willSend(_ request: PipelineRequest, context: PipelineContext) {
        count.withLock { $0 += 1 }
    }

    func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
        count.withLock { $0 -= 1 }
    }
}
