public import Pipeline

/// A plugin that delays the result of a call until a minimum time has passed, so that what people see does not flash.
///
/// ```swift
/// MinimumDurationPlugin(.milliseconds(400))
/// MinimumDurationPlugin(.milliseconds(400), appliesTo: .always)
/// ```
///
/// One call sets its own: `options: .init { $0.minimumDuration = .seconds(2) }`; zero turns it off.
///
/// **Position**: outside a plugin that retries: inside it, each attempt is delayed, and so is each retry. In either place the time counts
/// from the start of the call, so that the delays of several attempts do not add up. Outside ``TimeoutPlugin``, or inside it with a
/// total that is longer than the minimum.
///
/// **Effects**: delays a response of a status that the target accepts; of a target that accepts any, every response. With `.always` it
/// delays failures too, also of a call that never became a request. A call that took as long anyway is not delayed, and a cancelled one
/// never is. A delay that would reach `context.deadline` ends 50 ms before it, so that the result is still in time; it does not begin
/// later than that. A streamed call is delayed with its header fields, and its body is not touched. Response and failure are not
/// changed. It waits on the provider's clock, whatever the date is set to. Nothing is kept between calls.
///
/// **Defaults**
///
/// | setting | default | range |
/// |---|---|---|
/// | `minimum` | none | zero and up; zero for calls that set their own |
/// | `appliesTo` | `.success` | `.success`, `.always` |
///
/// **Errors**: a call that is cancelled during the delay ends at once, as cancelled. Failures are passed on.
public struct MinimumDurationPlugin: Stage.Process {
    /// Which results are delayed.
    public struct Results: Sendable, Hashable {
        private enum Kind { case success, always }

        private let kind: Kind

        /// Responses that the target accepts.
        public static let success = Results(kind: .success)
        /// Responses and failures.
        public static let always = Results(kind: .always)
    }

    /// An answer needs some time on its way out through the plugins.
    private static let leeway = Duration.milliseconds(50)

    private let minimum: Duration
    private let results: Results

    /// Creates a plugin.
    ///
    /// - Parameters:
    ///   - minimum: the shortest time from the start of a call to its result, zero and up.
    ///   - results: which results are delayed.
    public init(_ minimum: Duration, appliesTo results: Results = .success) {
        precondition(minimum >= .zero, "minimum is \(minimum), less than zero")
        self.minimum = minimum
        self.results = results
    }

    /// Delays the result.
    public func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async {
        let minimum = context.options.minimumDuration ?? minimum
        guard minimum > .zero, isHeldBack(result, context) else { return }
        var end = context.start.advanced(by: minimum)
        if let deadline = context.deadline { end = min(end, deadline.advanced(by: .zero - Self.leeway)) }
        guard context.clock.now < end else { return }
        do {
            try await context.clock.sleep(until: end)
        } catch {
            var cancelled = PipelineError(.cancelled, "the call was cancelled while its answer was held back")
            switch result {
            case .success(let response): cancelled.request = response.request
            case .failure(let failure): cancelled.request = failure.request
            }
            result = .failure(cancelled)
        }
    }

    private func isHeldBack(
        _ result: Result<PipelineResponse, PipelineError>,
        _ context: PipelineContext
    ) -> Bool {
        switch result {
        case .success(let response):
            results == .always || context.target.validationType.accepts(response.statusCode)
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
    /// `PluginCapability.delaysResults`.
    public var capabilities: Set<PluginCapability> { [.delaysResults] }
}

extension MinimumDurationPlugin: OptionHandling {
    /// `minimumDuration`.
    public var handledOptions: [RequestOptions.PluginOption] { [.minimumDuration] }
}
