public import PipelineCore

/// A plugin that replaces failures by a response of its own.
///
/// ```swift
/// [FallbackPlugin { PipelineResponse(request: $0.request, statusCode: 200) }, RetryPlugin()]
/// ```
///
/// The response says so: its `isFallback` is `true`.
///
/// **Effects**
///
/// - If the ``FallbackPolicy`` applies to the outcome, the closure makes the response. The call ends with the original
///   outcome if the closure returns `nil`.
/// - Sets `source` of the response to `fallback`. The exchanges of the call stay listed, and `context.annotations`
///   lists `served`.
/// - Discards the body of a response that it replaces.
/// - Never applies to a cancelled call or to a download. In a streamed call, it does not apply to a body that fails
///   after the head of the response has arrived.
///
/// **Position**: outside `RetryPlugin`, so that retries come first, and outside a `TimeoutPlugin` whose `total` it is
/// to cover. Outside a `StaleFallbackPlugin`, it applies if there is no stored response.
///
/// **Errors**: throws none of its own.
///
/// **Secrets**: none.
public struct FallbackPlugin: Stage.Intercept {
    private let policy: FallbackPolicy
    private let makeResponse: @Sendable (FallbackPolicy.Outcome) async -> PipelineResponse?

    /// Makes a plugin.
    ///
    /// - Parameters:
    ///   - policy: decides which outcomes are replaced.
    ///   - makeResponse: returns the response; `nil` to keep the outcome.
    public init(
        for policy: FallbackPolicy = FallbackPolicy(),
        makeResponse: @escaping @Sendable (_ outcome: FallbackPolicy.Outcome) async -> PipelineResponse?
    ) {
        self.policy = policy
        self.makeResponse = makeResponse
    }

    /// Sends the request, and replaces its outcome if it is a failure.
    public func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        if context.isDownload { return try await next(request) }
        let outcome: FallbackPolicy.Outcome
        do {
            let response = try await next(request)
            guard policy.mayReplace(response.statusCode) else { return response }
            outcome = FallbackPolicy.Outcome(request: request, result: .success(response))
        } catch let error as PipelineError {
            outcome = FallbackPolicy.Outcome(request: request, result: .failure(error))
        }
        guard !Task.isCancelled, policy.replaces(outcome), var made = await makeResponse(outcome) else {
            return try outcome.result.get()
        }
        if case .success(var replaced) = outcome.result { await replaced.discardBody(context) }
        made.source = .fallback
        context.annotate("served", by: self)
        return made
    }
}

extension FallbackPlugin: CapabilityDeclaring {
    private static let waitsForRetries = PluginCapability("awaits retries")

    /// The plugin declares a capability of its own.
    public var capabilities: Set<PluginCapability> { [Self.waitsForRetries] }

    /// Finds a plugin inside retries.
    public var orderRules: [OrderRule] {
        [
            OrderRule(
                "fallback-inside-retry",
                [Self.waitsForRetries],
                .inside,
                [.retries],
                consequence: "a fallback response ends the call before anything is retried"
            )
        ]
    }
}
