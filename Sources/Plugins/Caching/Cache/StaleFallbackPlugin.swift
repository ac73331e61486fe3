public import PipelineCore

/// A plugin that leaves stale responses of the cache to calls whose retries have all failed.
///
/// ```swift
/// [StaleFallbackPlugin(), RetryPlugin(), CachePlugin()]
/// ```
///
/// Without it, ``CachePlugin`` uses a stale response as soon as an attempt has failed, so that nothing is retried. The
/// part `.cache` of the standard stack includes it.
///
/// **Effects**
///
/// - If the call fails or its status is 500, 502, 503 or 504, and `stale-if-error` permits a stored response, the
///   plugins inside run a second time. The cache then responds without an exchange.
/// - The response keeps its source `cache` and its Cache-Status. Its `isFallback` is `true` unless another call has
///   stored a fresh response meanwhile. `context.annotations` lists `served`. Any other outcome is not changed.
///
/// **Position**: outside `RetryPlugin`, with a ``CachePlugin`` inside, and outside a `TimeoutPlugin` whose `total` it
/// is to cover.
///
/// **Errors**: throws none of its own. If the stored response is gone, the call ends with its original outcome.
///
/// **Secrets**: none.
///
/// Source: RFC 5861 §4, https://www.rfc-editor.org/rfc/rfc5861.html#section-4
public struct StaleFallbackPlugin: Stage.Intercept {
    /// Makes a plugin for the caches inside it.
    public init() {}

    /// Sends the request, and uses a stale response if it fails.
    public func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        context.update(Stage.StaleUse.self) { $0 = .afterRetries }
        do {
            var response = try await next(request)
            guard Stage.StaleUse.mayReplace(response.statusCode), Self.begin(context) else { return response }
            await response.discardBody(context)
            return try await stored(request, context, next) ?? response
        } catch {
            guard !Task.isCancelled, Self.begin(context) else { throw error }
            guard let stored = try await stored(request, context, next) else { throw error }
            return stored
        }
    }

    /// Runs the plugins inside again; returns `nil` if the cache does not respond.
    private func stored(
        _ request: PipelineRequest,
        _ context: PipelineContext,
        _ next: Stage.Next
    ) async throws -> PipelineResponse? {
        // Another call may have stored a fresh response meanwhile.
        guard let stored = try? await next(request), [.stale, .hit].contains(stored.cacheStatus?.kind) else {
            try Task.checkCancellation()
            return nil
        }
        context.annotate("served", by: self)
        return stored
    }

    private static func begin(_ context: PipelineContext) -> Bool {
        // In a shared exchange, the cache sets the state of the call that led it, and of no other.
        let isShared = context.sharedOutcome?.hasStaleResponse ?? false
        return context.update(Stage.StaleUse.self) { state in
            guard state == .available || isShared else { return false }
            state = .required
            return true
        }
    }
}

extension StaleFallbackPlugin: CapabilityDeclaring {
    private static let waitsForRetries = PluginCapability("awaits retries")
    private static let servesStored = PluginCapability("serves stale responses")

    /// The plugin declares capabilities of its own.
    public var capabilities: Set<PluginCapability> { [Self.waitsForRetries, Self.servesStored] }

    /// Finds a plugin inside retries, and one without a cache.
    public var orderRules: [OrderRule] {
        [
            OrderRule(
                "fallback-inside-retry",
                [Self.waitsForRetries],
                .inside,
                [.retries],
                consequence: "a stale response ends the call before anything is retried"
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
