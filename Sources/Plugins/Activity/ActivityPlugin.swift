public import Pipeline

/// A plugin that reports when to show and when to hide an activity indicator, across all calls that share it.
///
/// ```swift
/// ActivityPlugin { @MainActor isShown in spinner.isHidden = !isShown }
/// ActivityPlugin(showAfter: .zero, hold: .zero) { isShown in print(isShown ? "began" : "ended") }
/// ```
///
/// Create one plugin and add it to every provider whose calls the indicator covers.
///
/// **Position**: outermost. Inside a plugin that retries, the waits between attempts are not counted. Inside a plugin
/// that shares requests, calls that wait for another call's response are not counted.
///
/// **Effects**
///
/// - Counts a call from when it reaches the plugin until it leaves it, even if the call fails, is cancelled or is never
///   sent. A streamed call counts until its header fields arrive.
/// - The indicator is shown after calls have been in progress for `showAfter` without a gap. It is hidden after `hold`
///   without a call in progress. A call that begins before then keeps it shown, and it is never shown for less than
///   `hold`.
/// - The handler receives each change once, alternating `true` and `false`, one at a time. It runs in a task of the
///   plugin's own, so no call waits for it, and it may make calls itself. While it runs, a show and a hide that cancel
///   each other out may both be left out.
/// - At most one such task exists. It ends when no change is pending.
/// - Requests and results are not touched.
/// - Time is measured on the clock of the first call, so all providers that share the plugin should have the same
///   clock.
///
/// **Defaults**
///
/// | setting | default | range |
/// |---|---|---|
/// | `showAfter` | 200 ms | zero and up; zero shows it at once |
/// | `hold` | 300 ms | zero and up; zero hides it at once |
///
/// **Errors**: throws none, and passes on every failure.
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
