import Foundation
import Pipeline
import PipelineCaching
import PipelineResilience

/// A plugin that translates GitHub's rate limits into the fields that `RateLimitPlugin` and `RetryPlugin` read.
///
/// GitHub reports its limit in `x-ratelimit-remaining` and `x-ratelimit-reset`, and refuses requests with 403 or 429.
/// The plugins outside get a 429 with Retry-After for a refused request, and a RateLimit field if no requests remain.
///
/// **Position**: inside `RateLimitPlugin`, `RetryPlugin` and `CachePlugin`.
///
/// Source: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
struct GitHubLimitPlugin: Stage.Exchange {
    /// Gets the time until the next request may be sent.
    let report: @Sendable (Duration) -> Void

    func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        var response = try await send(request)
        guard let wait = Self.wait(in: response, now: context.clock.date) else { return response }
        let seconds = wait.components.seconds
        if let name = HTTPField.Name("RateLimit") { response.headers[name] = "\"github\";r=0;t=\(seconds)" }
        if Self.refusals.contains(response.statusCode) {
            response.head.status = .tooManyRequests
            response.headers[.retryAfter] = String(seconds)
        }
        if !context.isReplayed { report(wait) }
        return response
    }

    private static let refusals = [403, 429]

    /// Returns the time until the next request may be sent; `nil` if requests remain.
    private static func wait(in response: PipelineResponse, now: Date) -> Duration? {
        // The limit for bursts, which GitHub calls secondary, has only Retry-After.
        if refusals.contains(response.statusCode), let wait = response.retryAfter(now: now) { return wait }
        guard response.header("x-ratelimit-remaining") == "0",
            let reset = response.header("x-ratelimit-reset").flatMap(TimeInterval.init), reset.isFinite
        else { return nil }
        return .seconds(max(1, min(reset - now.timeIntervalSince1970, 86_400).rounded(.up)))
    }
}
