import Synchronization

/// The settings of a provider that all of its calls share.
final class CallSettings: Sendable {
    let limits: ProviderConfiguration.Limits
    let redirects: RedirectPolicy
    let clock: PipelineClock
    let random: PipelineRandom
    /// `nil` for the default coders.
    let coders: ProviderConfiguration.Coders.Shared?
    let options: RequestOptions
    let transportDecodesContent: Bool
    /// How calls are recorded; `nil` if they are not.
    let timeline: TimelineSettings?
    /// The plugins that see how a call ended, in the order in which they run.
    let finishers: [any Stage.DidFinish]
    let operatorLog: PipelineContext.OperatorLog
    /// The calls of the provider that have not ended, including background calls.
    let inProgress: CallsInProgress
    /// The calls that plugins have begun in the background.
    let background: BackgroundCalls
    private let callCount: CallCount

    init(
        _ configuration: ProviderConfiguration,
        transportDecodesContent: Bool,
        finishers: [any Stage.DidFinish],
        operatorLog: PipelineContext.OperatorLog
    ) {
        limits = configuration.limits
        redirects = configuration.redirects
        clock = configuration.clock
        random = configuration.random
        timeline = configuration.timeline ? TimelineSettings(clock: configuration.clock) : nil
        coders = configuration.coders.map(ProviderConfiguration.Coders.Shared.init)
        options = configuration.options
        self.transportDecodesContent = transportDecodesContent
        self.finishers = finishers
        self.operatorLog = operatorLog
        inProgress = CallsInProgress()
        background = BackgroundCalls(among: inProgress)
        callCount = CallCount()
    }

    /// Makes the settings of the same provider for calls that are recorded in another way.
    init(_ settings: CallSettings, timeline: TimelineSettings, finishers: [any Stage.DidFinish]) {
        limits = settings.limits
        redirects = settings.redirects
        clock = settings.clock
        random = settings.random
        coders = settings.coders
        options = settings.options
        transportDecodesContent = settings.transportDecodesContent
        self.timeline = timeline
        self.finishers = finishers
        operatorLog = settings.operatorLog
        inProgress = settings.inProgress
        background = settings.background
        callCount = settings.callCount
    }

    /// Returns the number of a new call, from 1.
    func nextID() -> Int { callCount.next() }
}

/// Every call writes the count.
///
/// It has a cache line of its own, so that processors do not wait to read neighboring data.
private final class CallCount: Sendable {
    private typealias Padding = (Int, Int, Int, Int, Int, Int, Int)

    private let before: Padding = (0, 0, 0, 0, 0, 0, 0)
    private let count = Atomic(0)
    private let after: Padding = (0, 0, 0, 0, 0, 0, 0)

    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}
