/// A provider's stack as flat lists, built once when the provider is made.
struct CompiledPipeline: Sendable {
    let plugins: [any PluginType]
    let transport: any Transport
    let outermost: Segment
    /// The plugins that see how a call ended, in the order in which they run.
    let finishers: [any Stage.DidFinish]

    init(_ plugins: [any PluginType], _ transport: any Transport, recordsTimeline: Bool) {
        let timed: TimedStages? = recordsTimeline ? TimedStages() : nil
        self.plugins = plugins
        self.transport = transport
        finishers = plugins.reversed().compactMap { $0 as? any Stage.DidFinish }
        let exchanger = Exchanger(
            plugins: plugins.compactMap { $0 as? any Stage.Exchange }.map { timed?.exchange($0) ?? $0 },
            wire: Wire(
                transport: timed?.transport(transport) ?? transport,
                willSend: plugins.compactMap { $0 as? any Stage.WillSend }.map { timed?.willSend($0) ?? $0 },
                didReceive: plugins.compactMap { $0 as? any Stage.DidReceive }.map { timed?.didReceive($0) ?? $0 }
            )
        )
        var prepares: [StageStep<any Stage.Prepare>] = []
        var processes: [StageStep<any Stage.Process>] = []
        var interceptor: Interceptor?
        func makeSegment() -> Segment {
            Segment(
                prepares: prepares.reversed(),
                processes: processes,
                interceptor: interceptor,
                exchanger: exchanger
            )
        }
        for (position, plugin) in plugins.enumerated().reversed() {
            precondition(
                !Stage.Kind.all(of: plugin).isEmpty,
                "the plugin \(plugin.name) at position \(position + 1) conforms to PluginType but to no stage, so none of its methods would "
                    + "run; conform its type to the stages whose methods it has: Stage.Prepare, Stage.Intercept, Stage.Exchange, "
                    + "Stage.WillSend, Stage.DidReceive, Stage.Process or Stage.DidFinish"
            )
            if let plugin = plugin as? any Stage.Intercept {
                let options = Stage.Kind.intercept.wakingOptions(of: plugin)
                let step = StageStep<any Stage.Intercept>(position, timed?.intercept(plugin) ?? plugin, options)
                let number = interceptor.map { $0.number + 1 } ?? 0
                interceptor = Interceptor(step, inside: makeSegment(), number: number)
                prepares = []
                processes = []
            }
            if let plugin = plugin as? any Stage.Prepare {
                let options = Stage.Kind.prepare.wakingOptions(of: plugin)
                prepares.append(StageStep(position, timed?.prepare(plugin) ?? plugin, options))
            }
            if let plugin = plugin as? any Stage.Process {
                let options = Stage.Kind.process.wakingOptions(of: plugin)
                processes.append(StageStep(position, timed?.process(plugin) ?? plugin, options))
            }
        }
        let count = interceptor.map { $0.number + 1 } ?? 0
        precondition(
            count <= InterceptorMarks.maximumCount,
            "\(count) plugins intercept, at most \(InterceptorMarks.maximumCount) can"
        )
        outermost = makeSegment()
    }
}
