public import Pipeline

/// A plugin that delays the stale responses of ``CachePlugin`` until all retries have failed.
///
/// ```swift
/// [StaleFallbackPlugin(), RetryPlugin(), CachePlugin()]
/// ```
///
/// Without it, ``CachePlugin`` uses a stale response as soon as an attempt has failed, so that nothing is retried. The
/// standard stack includes this plugin if it has a cache.
///
/// **Effects**
///
/// - If the call fails or its status is 500, 502, 503 or 504, and `stale-if-error` permits a stored response, the
///   plugins inside run a second time. The cache then responds without an exchange.
/// - Otherwise, the result is not changed.
///
/// **Position**: outside ``RetryPlugin``, with ``CachePlugin`` inside.
///
/// **Errors**: if the stored response is gone by then, the call ends with its original response or error.
///
/// **Secrets**: none.
///
/// Source: RFC 5861 §4, https://www.rfc-editor.org/rfc/rfc5861.html#section-4
public struct StaleFallbackPlugin: Stage.Intercept {
    /// Creates a plugin that works with every ``CachePlugin`` inside.
    public init() {}

    /// Sends the request; if it fails, lets the cache respond with a stale response.
    public func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        context.update(StaleFallback.self) { $0 = .afterRetries }
        do {
            var response = try await next(request)
            guard StaleFallback.isServerError(response.statusCode), Self.begin(context) else { return response }
            await response.discardBody(context)
            guard let stale = try? await next(request), stale.cacheStatus?.kind == .stale else {
                try Task.checkCancellation()
                return response
            }
            return stale
        } catch {
            guard !Task.isCancelled, Self.begin(context) else { throw error }
            guard let stale = try? await next(request), stale.cacheStatus?.kind == .stale else {
                try Task.checkCancellation()
                throw error
            }
            return stale
        }
    }

    private static func begin(_ context: PipelineContext) -> Bool {
        context.update(StaleFallback.self) { state in
            guard state == .available else { return false }
            state = .now
            return true
        }
    }
}

/// When a call uses a stale response after an error.
enum StaleFallback: PipelineContextKey {
    enum State {
        /// The cache responds itself.
        case atOnce
        /// A plugin outside waits until all retries have failed.
        case afterRetries
        /// That plugin waits, and the cache has a response.
        case available
        /// The cache responds without an exchange.
        case now
    }

    static let defaultValue = State.atOnce

    static func isServerError(_ statusCode: Int) -> Bool {
        [500, 502, 503, 504].contains(statusCode)
    }
}

extension StaleFallbackPlugin: CapabilityDeclaring {
    /// The capability of this plugin: `awaitsRetries`.
    public var capabilities: Set<PluginCapability> { [.awaitsRetries] }

    /// The rules that the stack has a cache, and that this plugin is outside plugins that retry.
    public var orderRules: [OrderRule] {
        [
            OrderRule(
                "fallback-inside-retry",
                [.awaitsRetries],
                .inside,
                [.retries],
                consequence: "a stale response ends the call before anything is retried"
            ),
            OrderRule(
                "fallback-without-cache",
                [.awaitsRetries],
                .without,
                [.caches],
                consequence: "there is no stored response to fall back to",
                remedy: "add a CachePlugin"
            ),
        ]
    }
}

extension PluginCapability {
    /// The plugin waits for retries to fail before it uses a stale response.
    static let awaitsRetries = Self("awaits retries")
}
