public import PipelineCore

/// A plugin that delays fast results until a minimum time has passed, so that the user interface does not flash.
///
/// ```swift
/// MinimumDurationPlugin(.milliseconds(400))
/// MinimumDurationPlugin(.milliseconds(400), appliesTo: .always)
/// ```
///
/// A call can set its own minimum: `options: .init { $0.minimumDuration = .seconds(2) }`. Zero turns the delay off.
///
/// **Effects**
///
/// - Delays responses with a status that the target accepts. If the target accepts any status, every response is
///   delayed.
/// - With `.always`, also delays failures, even of a call that never became a request.
/// - Does not delay a call that already took as long as the minimum, or a cancelled call.
/// - Ends a delay no later than 50 ms before `context.deadline`, so that the result is still in time.
/// - Delays a streamed call when its header fields arrive and does not touch the body.
/// - Changes neither responses nor failures, and keeps nothing between calls.
/// - Waits on the provider's clock, so changes of the date have no effect.
///
/// **Defaults**
///
/// | setting | default | range |
/// |---|---|---|
/// | `minimum` | none | zero and up; zero delays only calls that set their own |
/// | `appliesTo` | `.success` | `.success`, `.always` |
///
/// **Position**
///
/// - Outside a plugin that retries. Inside it, the plugin delays each attempt and therefore each retry. In either
///   position the time counts from the start of the call, so the delays of several attempts do not add up.
/// - Outside ``TimeoutPlugin``, or inside it with a total longer than the minimum.
///
/// **Errors**: a call that is cancelled during the delay ends at once, as cancelled. Failures pass through unchanged.
public struct MinimumDurationPlugin: Stage.Process {
    /// The results that the plugin delays.
    public struct Results: Sendable, Hashable {
        private enum Kind { case success, always }

        private let kind: Kind

        /// Delays responses whose status the target accepts.
        public static let success = Results(kind: .success)
        /// Delays all responses and all failures except cancellation.
        public static let always = Results(kind: .always)
    }

    /// The time that a response needs to return through the outer plugins.
    private static let leeway = Duration.milliseconds(50)

    private let minimum: Duration
    private let results: Results

    /// Creates a plugin.
    ///
    /// - Parameters:
    ///   - minimum: the shortest time from the start of a call to its result, zero and up.
    ///   - results: the results that are delayed.
    public init(_ minimum: Duration, appliesTo results: Results = .success) {
        precondition(minimum >= .zero, "minimum is \(minimum), less than zero")
        self.minimum = minimum
        self.results = results
    }

    /// Waits until the minimum duration has passed, if the result is one that the plugin delays.
    public func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async {
        let minimum = context.options.minimumDuration ?? minimum
        guard minimum > .zero, isHeldBack(result, context) else { return }
        var end = context.start.advanced(by: minimum)
        if let deadline = context.deadline { end = min(end, deadline.advanced(by: .zero - Self.leeway)) }
        guard context.clock.now < end else { return }
        do {
            try await context.recordSpan("minimum duration", as: .wait) { try await context.clock.sleep(until: end) }
        } catch {
            var cancelled = PipelineError(.cancelled, "the call was cancelled while its response was delayed")
            cancelled.request = result.request
            result = .failure(cancelled)
        }
    }

    private func isHeldBack(
        _ result: Result<PipelineResponse, PipelineError>,
        _ context: PipelineContext
    ) -> Bool {
        switch result {
        case .success(let response):
            results == .always || context.validationType.accepts(response.statusCode)
        case .failure(let error):
            results == .always && error.code != .cancelled
        }
    }
}

extension MinimumDurationPlugin {
    /// With a minimum of zero, the plugin acts only on calls that set `minimumDuration`.
    public var idleStages: [Stage.Kind: Set<RequestOptions.PluginOption>] {
        minimum > .zero ? [:] : [.process: [.minimumDuration]]
    }
}

extension MinimumDurationPlugin: CapabilityDeclaring {
    /// The plugin declares `PluginCapability.delaysResults`.
    public var capabilities: Set<PluginCapability> { [.delaysResults] }
}

extension MinimumDurationPlugin: OptionHandling {
    /// The only option that the plugin handles is `minimumDuration`.
    public var handledOptions: [RequestOptions.PluginOption] { [.minimumDuration] }
}
