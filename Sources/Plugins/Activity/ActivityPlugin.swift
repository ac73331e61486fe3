public import Pipeline

/// Tells when an indicator of activity is to be shown and when to be hidden, over all calls that share it.
///
/// ```swift
/// ActivityPlugin { @MainActor isShown in spinner.isHidden = !isShown }
/// ActivityPlugin(showAfter: .zero, hold: .zero) { isShown in print(isShown ? "began" : "ended") }
/// ```
///
/// Make one and put it into every provider whose calls the indicator stands for.
///
/// **Position**: outermost. Inside a plugin that sends again the waits between attempts are not counted; inside one that shares
/// requests the calls that wait for another's answer are not.
///
/// **Effects**: counts a call from its way in to its way out, also one that fails, is cancelled or is never sent; a streamed call to its
/// header fields. The indicator is shown when calls have been under way for `showAfter` without a gap, and hidden when none has
/// been for `hold`: a call that begins before then keeps it shown, and it is never shown for less than `hold`. The handler is
/// told of each change once, true and false in turn, one at a time, in a task of the plugin's own: no call waits for it, and
/// it may make calls itself. While it is at work, a show and a hide that undo each other may both be left out. There is one such task
/// at most, which ends when nothing is to come. Requests and results are not touched. All providers that share it should have the
/// same clock: it counts time on that of the first call.
///
/// **Defaults**
///
/// | setting | default | range |
/// |---|---|---|
/// | `showAfter` | 200 ms | zero and up; zero for at once |
/// | `hold` | 300 ms | zero and up; zero for at once |
///
/// **Errors**: throws none, and passes every failure on.
public struct ActivityPlugin: Stage.Intercept {
    private let monitor: ActivityMonitor

    /// Makes a plugin.
    ///
    /// - Parameters:
    ///   - showAfter: how long calls are under way before the indicator is shown.
    ///   - hold: how long it stays after the last of them.
    ///   - handler: shows the indicator, or hides it.
    public init(
        showAfter: Duration = .milliseconds(200),
        hold: Duration = .milliseconds(300),
        handler: @escaping @Sendable (_ isShown: Bool) async -> Void
    ) {
        precondition(showAfter >= .zero, "showAfter is \(showAfter), less than zero")
        precondition(hold >= .zero, "hold is \(hold), less than zero")
        monitor = ActivityMonitor(ActivityState(showAfter: showAfter, hold: hold), handler: handler)
    }

    /// How many calls are under way, shown or not.
    public var activeCallCount: Int { monitor.callCount }

    /// Counts the call while it is inside.
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
    /// `PluginCapability.spansCalls`.
    public var capabilities: Set<PluginCapability> { [.spansCalls] }
}
