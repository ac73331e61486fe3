/// A provider's stack as flat lists, built once when the provider is made.
struct CompiledPipeline: Sendable {
    let plugins: [any PluginType]
    let transport: any Transport
    let outermost: Segment
    /// The plugins that see how a call ended, in the order in which they run.
    let finishers: [any Stage.DidFinish]

    init(plugins: [any PluginType], transport: any Transport) {
        self.plugins = plugins
        self.transport = transport
        finishers = plugins.reversed().compactMap { $0 as? any Stage.DidFinish }
        let exchanger = Exchanger(
            plugins: plugins.compactMap { $0 as? any Stage.Exchange },
            wire: Wire(
                transport: transport,
                willSend: plugins.compactMap { $0 as? any Stage.WillSend },
                didReceive: plugins.compactMap { $0 as? any Stage.DidReceive }
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
                let step = StageStep<any Stage.Intercept>(position, plugin, options)
                let number = interceptor.map { $0.number + 1 } ?? 0
                interceptor = Interceptor(step, inside: makeSegment(), number: number)
                prepares = []
                processes = []
            }
            if let plugin = plugin as? any Stage.Prepare {
                prepares.append(StageStep(position, plugin, Stage.Kind.prepare.wakingOptions(of: plugin)))
            }
            if let plugin = plugin as? any Stage.Process {
                processes.append(StageStep(position, plugin, Stage.Kind.process.wakingOptions(of: plugin)))
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
