import Foundation
import Pipeline
import PipelineResilience
import PipelineTesting
import Synchronization

/// A provider with a breaker over a scripted transport, on a manual clock.
struct BreakerBench {
    let clock: ManualClock
    let transport: ScriptedTransport
    let provider: Provider<Ask>

    init(_ transport: ScriptedTransport, _ plugins: [any PluginType], clock: ManualClock = ManualClock()) {
        self.clock = clock
        self.transport = transport
        provider = Provider(
            transport: transport,
            plugins: plugins,
            configuration: .init(clock: clock, random: .seeded(1))
        )
    }

    init(_ steps: [ScriptedTransport.Step], _ plugins: any PluginType...) {
        self.init(ScriptedTransport(steps), plugins)
    }

    /// Sends the target and returns its status or the code of its failure.
    @discardableResult
    func send(_ target: Ask = Ask(), _ options: RequestOptions = .init()) async -> String {
        do {
            return "\(try await provider.request(target, options: options).statusCode)"
        } catch let error as PipelineError {
            return error.code.rawValue
        } catch {
            return "\(type(of: error))"
        }
    }

    /// Sends the target and returns its error.
    func error(_ target: Ask = Ask()) async -> PipelineError? {
        do {
            _ = try await provider.request(target)
            return nil
        } catch {
            return error as? PipelineError
        }
    }
}

extension CircuitBreakerPlugin {
    /// A breaker that opens at the first failure, for a second.
    static func touchy(
        probeCount: Int = 1,
        partition: TrafficPartition = .authority,
        decide: (@Sendable (Result<PipelineResponse, PipelineError>) -> Verdict?)? = nil
    ) -> CircuitBreakerPlugin {
        CircuitBreakerPlugin(
            failureRatio: 1,
            minimumCallCount: 1,
            window: .count(1),
            breakDuration: .seconds(1),
            probeCount: probeCount,
            partition: partition,
            decide: decide
        )
    }

    /// The state of the circuit of the default target.
    var state: CircuitState { state(of: "https://a.test") }
}

/// Collects the events with which a breaker has annotated calls.
final class AnnotationLog: Stage.DidFinish {
    private let seen = Mutex<[String]>([])

    var events: [String] { seen.withLock { $0 } }

    func didFinish(_ outcome: Stage.Outcome, context: PipelineContext) {
        let events = outcome.annotations.filter { $0.plugin == "CircuitBreakerPlugin" }.map(\.event)
        seen.withLock { $0 += events }
    }
}
