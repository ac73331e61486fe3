import Pipeline

/// A plugin that retries failures without support for ``DeduplicationPlugin``: each call has its own waits.
///
/// - Parameters:
///   - attempts: the total number of attempts.
///   - wait: the wait, by the numbers of the call and of the attempt, both from 1.
/// - Returns: the plugin.
func stranger(
    attempts: Int = 3,
    _ wait: @escaping @Sendable (_ call: Int, _ attempt: Int) -> Duration
) -> PluginStack {
    .intercept(name: "stranger") { request, context, next in
        for attempt in 1..<attempts {
            do {
                let response = try await next(request)
                if response.statusCode < 400 { return response }
            } catch is CancellationError {
                throw CancellationError()
            } catch {}
            try await context.clock.sleep(for: wait(context.callID, attempt))
        }
        return try await next(request)
    }
}
