import Pipeline
import PipelineResilience
import Synchronization

/// The plugins of a run.
enum Stack {
    static let attemptField = HTTPField.Name("X-Attempt")

    /// Returns the plugins of a real client with deterministic settings: immediate retries without a budget.
    static func standard() -> [any PluginType] {
        [
            LoggingPlugin(level: .error) { _, _ in },
            MinimumDurationPlugin(.zero),
            TimeoutPlugin(total: .seconds(60), idle: .seconds(60)),
            RequestIDPlugin(),
            RetryPlugin(maximumAttempts: Prediction.maximumAttempts, backoff: .immediate, budget: .unlimited),
            .prepare { request, context in
                if let name = attemptField { request.headers[name] = String(context.attempt) }
            },
            AccessTokenPlugin { _ in "2YotnFZFEjr1zCsicMWpAA" },
            DeduplicationPlugin(),
            GzipPlugin(),
        ]
    }
}

extension PipelineRequest {
    /// The number of the attempt that the client states; 1 if it states none.
    var attemptNumber: Int {
        guard let name = Stack.attemptField, let text = headers[name], let number = Int(text) else { return 1 }
        return number
    }
}

/// A plugin that delays attempts, fails them, or returns wrong responses, as planned.
struct ChaosPlugin: Stage.Intercept {
    struct Fault: Error {}

    func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        guard let call = context.target as? Call else { return try await next(request) }
        let chaos = call.plan.chaos(at: request.attemptNumber)
        if let latency = chaos.latency { try await context.clock.sleep(for: latency) }
        switch chaos.injury {
        case .none: return try await next(request)
        case .fault: throw Fault()
        case .outcome: return PipelineResponse(request: request, statusCode: 500)
        }
    }
}

/// A plugin that counts all exchanges and those that have not ended.
final class Witness: Stage.WillSend, Stage.DidReceive {
    private let live = Atomic(0)
    private let all = Atomic(0)

    var liveCount: Int { live.load(ordering: .relaxed) }
    var count: Int { all.load(ordering: .relaxed) }

    func willSend(_ request: PipelineRequest, context: PipelineContext) {
        live.add(1, ordering: .relaxed)
        all.add(1, ordering: .relaxed)
    }

    func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
        live.subtract(1, ordering: .relaxed)
    }
}
