public import PipelineCore

/// A plugin that reports when to show and when to hide an activity indicator, for all calls that share it.
///
/// ```swift
/// ActivityPlugin { @MainActor isShown in spinner.isHidden = !isShown }
/// ActivityPlugin(showAfter: .zero, hold: .zero) { isShown in print(isShown ? "began" : "ended") }
/// ```
///
/// Create one plugin and add it to every provider whose calls the indicator covers.
///
/// **Effects**
///
/// - Counts a call from when it reaches the plugin until it leaves it, even if the call fails, is cancelled or is never
///   sent. A streamed call counts until its header fields arrive.
/// - Shows the indicator after calls have been in progress for `showAfter` without a gap.
/// - Hides it after `hold` without a call in progress. A call that begins before then keeps it shown. The indicator is
///   never shown for less than `hold`.
/// - Calls the handler once for each change, alternating `true` and `false`, one change at a time. A show and a hide
///   that cancel each other out while the handler runs may both be left out.
/// - Runs the handler in a task of its own, so no call waits for it. The handler may make calls. At most one such task
///   exists, and it ends when no change is pending.
/// - Measures time on the clock of the first call. Providers that share the plugin should have the same clock.
/// - Does not touch requests and results.
///
/// **Defaults**
///
/// | setting | default | range |
/// |---|---|---|
/// | `showAfter` | 200 ms | zero and up; zero shows it at once |
/// | `hold` | 300 ms | zero and up; zero hides it at once |
///
/// **Position**
///
/// - Outermost.
/// - Inside a plugin that retries, the waits between attempts are not counted.
/// - Inside a plugin that shares requests, calls that wait for another call's response are not counted.
///
/// **Errors**: throws none. Failures pass through unchanged.
public struct ActivityPlugin: Stage.Intercept {
    private let monitor: ActivityMonitor

    /// Creates a plugin that reports to a handler.
    ///
    /// - Parameters:
    ///   - showAfter: how long calls are in progress before the indicator is shown.
    ///   - hold: how long the indicator stays after the last call has ended.
    ///   - handler: shows the indicator if `isShown` is `true`, and hides it otherwise.
    public init(
        showAfter: Duration = .milliseconds(200),
        hold: Duration = .milliseconds(300),
        handler: @escaping @Sendable (_ isShown: Bool) async -> Void
    ) {
        precondition(showAfter >= .zero, "showAfter is \(showAfter), less than zero")
        precondition(hold >= .zero, "hold is \(hold), less than zero")
        monitor = ActivityMonitor(ActivityState(showAfter: showAfter, hold: hold), handler: handler)
    }

    /// The number of calls in progress, whether or not the indicator is shown.
    public var activeCallCount: Int { monitor.callCount }

    /// Counts the call until its result is known.
    public func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        monitor.begin(context.clock)
        defer { monitor.end(context.clock) }
        return try await next(request)
    }
}

extension ActivityPlugin: CapabilityDeclaring {
    /// The capability of this plugin: `PluginCapability.spansCalls`.
    public var capabilities: Set<PluginCapability> { [.spansCalls] }
}
