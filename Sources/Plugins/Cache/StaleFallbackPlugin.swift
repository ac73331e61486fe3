public import Pipeline

/// A plugin that lets ``CachePlugin`` respond with a stale response only after all retries have failed.
///
/// Without it, ``CachePlugin`` serves a stale response as soon as an attempt has failed, so that nothing is retried.
///
/// **Effects**
///
/// - If the call fails, or ends with a status of 500, 502, 503 or 504, and a stored response may be used after an error
///   (`stale-if-error`), the plugins inside run again, and the cache responds without an exchange.
/// - Otherwise the result is not changed.
///
/// **Position**: outside ``RetryPlugin``, with ``CachePlugin`` inside.
///
/// **Errors**: if the stored response is gone by then, the original failure is thrown.
///
/// **Secrets**: none.
///
/// Source: RFC 5861 §4, https://www.rfc-editor.org/rfc/rfc5861.html#section-4
public struct StaleFallbackPlugin: Stage.Intercept {
    /// Creates a plugin; it works with every ``CachePlugin`` inside.
    public init() {}

    /// Sends the request, and lets the cache respond if it fails.
    public func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        context.update(StaleFallback.self) { $0 = .afterRetries }
        do {
            var response = try await next(request)
            guard StaleFallback.isServerError(response.statusCode), Self.begin(context) else { return response }
            guard let stale = try? await next(request), stale.source == .cache else { return response }
            await response.discardBody(context)
            response = stale
            return response
        } catch {
            guard !Task.isCancelled, Self.begin(context) else { throw error }
            guard let stale = try? await next(request), stale.source == .cache else { throw error }
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

/// How a call uses a stale response after an error.
enum StaleFallback: PipelineContextKey {
    enum State {
        /// The cache responds itself.
        case atOnce
        /// A plugin outside decides when all retries have failed.
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

    /// The plugin needs a cache, and belongs outside a plugin that retries.
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
