public import Pipeline

/// A plugin that replaces failures by a response of its own or by a stale one of the cache.
///
/// ```swift
/// [FallbackPlugin { PipelineResponse(request: $0.request, statusCode: 200) }, RetryPlugin()]
/// [FallbackPlugin.stored, RetryPlugin(), CachePlugin()]
/// ```
///
/// The response says so: its `isFallback` is `true`.
///
/// **Effects**
///
/// With a closure:
///
/// - If the ``FallbackPolicy`` applies to the outcome, the closure makes the response. The call ends with the original
///   outcome if the closure returns `nil`.
/// - Sets `source` of the response to `fallback`. The exchanges of the call stay listed.
/// - Discards the body of a response that it replaces.
/// - Never applies to a cancelled call or to a download. In a streamed call, it does not apply to a body that fails
///   after the head of the response has arrived.
///
/// With ``stored``:
///
/// - Without it, ``CachePlugin`` uses a stale response as soon as an attempt has failed, so that nothing is retried.
///   The standard stack includes this plugin if it has a cache.
/// - If the call fails or its status is 500, 502, 503 or 504, and `stale-if-error` permits a stored response, the
///   plugins inside run a second time. The cache then responds without an exchange.
/// - The response keeps its source `cache` and its Cache-Status.
///
/// In both cases, `context.annotations` lists `served` if the outcome was replaced. Any other outcome is not changed.
///
/// **Position**: outside ``RetryPlugin``, so that retries come first, and outside a ``TimeoutPlugin`` whose `total` it
/// is to cover. ``stored`` needs a ``CachePlugin`` inside. A plugin with a closure outside it applies if there is no
/// stored response.
///
/// **Errors**: throws none of its own. If the closure returns `nil` or the stored response is gone, the call ends with
/// its original response or error.
///
/// **Secrets**: none.
///
/// Source: RFC 5861 §4, https://www.rfc-editor.org/rfc/rfc5861.html#section-4
public struct FallbackPlugin: Stage.Intercept {
    private enum Kind: Sendable {
        case stored
        case made(FallbackPolicy, @Sendable (FallbackPolicy.Outcome) async -> PipelineResponse?)
    }

    private let kind: Kind

    /// A plugin that delays the stale responses of every ``CachePlugin`` inside until all retries have failed.
    public static let stored = FallbackPlugin(kind: .stored)

    private init(kind: Kind) {
        self.kind = kind
    }

    /// Makes a plugin that makes a response of its own.
    ///
    /// - Parameters:
    ///   - policy: decides which outcomes are replaced.
    ///   - makeResponse: returns the response; `nil` to keep the outcome.
    public init(
        for policy: FallbackPolicy = FallbackPolicy(),
        makeResponse: @escaping @Sendable (_ outcome: FallbackPolicy.Outcome) async -> PipelineResponse?
    ) {
        kind = .made(policy, makeResponse)
    }

    /// Sends the request, and replaces its outcome if it is a failure.
    public func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        switch kind {
        case .stored:
            return try await StoredFallback().intercept(request, context, next) {
                context.annotate("served", by: self)
            }
        case .made(let policy, let makeResponse):
            if context.isDownload { return try await next(request) }
            return try await replace(policy, makeResponse, request, context, next)
        }
    }

    private func replace(
        _ policy: FallbackPolicy,
        _ makeResponse: @Sendable (FallbackPolicy.Outcome) async -> PipelineResponse?,
        _ request: PipelineRequest,
        _ context: PipelineContext,
        _ next: Stage.Next
    ) async throws -> PipelineResponse {
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
    private static let servesStored = PluginCapability("serves stale responses")

    /// The plugin declares capabilities of its own.
    public var capabilities: Set<PluginCapability> {
        switch kind {
        case .stored: [Self.waitsForRetries, Self.servesStored]
        case .made: [Self.waitsForRetries]
        }
    }

    /// Finds a plugin inside retries, and ``stored`` without a cache.
    public var orderRules: [OrderRule] {
        [
            OrderRule(
                "fallback-inside-retry",
                [Self.waitsForRetries],
                .inside,
                [.retries],
                consequence: "a fallback response ends the call before anything is retried"
            ),
            OrderRule(
                "fallback-without-cache",
                [Self.servesStored],
                .without,
                [.caches],
                consequence: "there is no stored response to fall back to",
                remedy: "add a CachePlugin"
            ),
        ]
    }
}
