/// A provider's stack as flat lists, built once when the provider is made.
struct CompiledPipeline: Sendable {
    let plugins: [any PluginType]
    let transport: any Transport
    let outermost: Segment
    /// The plugins that see how a call ended, in the order in which they run.
    let finishers: [any Stage.DidFinish]

    init(_ plugins: [any PluginType], _ transport: any Transport, timing: StageTiming = .none) {
        self.plugins = plugins
        self.transport = transport
        finishers = Self.stages(plugins) { (plugin: any Stage.DidFinish, index) in
            timing == .analysis ? [TimedPlugin(plugin: plugin, name: plugin.name, index: index)] : [plugin]
        }.reversed()
        let exchanger = Self.exchanger(plugins, transport, timing)
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
        let interceptorCount = plugins.count { $0 is any Stage.Intercept }
        let timesCore = timing == .analysis && interceptorCount * 2 <= InterceptorMarks.maximumCount
        func addInterceptor(_ step: StageStep<any Stage.Intercept>) {
            let number = interceptor.map { $0.number + 1 } ?? 0
            interceptor = Interceptor(step, inside: makeSegment(), number: number)
            prepares = []
            processes = []
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
                let timed = TimedPlugin(plugin: plugin, name: plugin.name, index: position)
                if timesCore { addInterceptor(StageStep(position, TimedCore(), options)) }
                addInterceptor(StageStep(position, timing == .none ? plugin : timed, options))
            }
            if let plugin = plugin as? any Stage.Prepare {
                let options = Stage.Kind.prepare.wakingOptions(of: plugin)
                let timed = TimedPlugin(plugin: plugin, name: plugin.name, index: position)
                prepares.append(StageStep(position, timing == .none ? plugin : timed, options))
            }
            if let plugin = plugin as? any Stage.Process {
                let options = Stage.Kind.process.wakingOptions(of: plugin)
                let timed = TimedPlugin(plugin: plugin, name: plugin.name, index: position)
                processes.append(StageStep(position, timing == .none ? plugin : timed, options))
            }
        }
        let count = interceptor.map { $0.number + 1 } ?? 0
        precondition(
            count <= InterceptorMarks.maximumCount,
            "\(count) plugins intercept, at most \(InterceptorMarks.maximumCount) can"
        )
        outermost = makeSegment()
    }
    private static func exchanger(
        _ plugins: [any PluginType],
        _ transport: any Transport,
        _ timing: StageTiming
    ) -> Exchanger {
        Exchanger(
            plugins: stages(plugins) { (plugin: any Stage.Exchange, index) in
                if timing == .none { return [plugin] }
                let timed = TimedPlugin(plugin: plugin, name: plugin.name, index: index)
                return timing == .analysis ? [timed, TimedCore()] : [timed]
            },
            wire: Wire(
                transport: timing == .none ? transport : TimedTransport(transport: transport),
                willSend: stages(plugins) { (plugin: any Stage.WillSend, index) in
                    [timing == .none ? plugin : TimedPlugin(plugin: plugin, name: plugin.name, index: index)]
                },
                didReceive: stages(plugins) { (plugin: any Stage.DidReceive, index) in
                    [timing == .none ? plugin : TimedPlugin(plugin: plugin, name: plugin.name, index: index)]
                }
            )
        )
    }

    /// Returns the plugins that conform to a stage, each replaced by those that a closure makes from it and its index.
    private static func stages<Plugin>(
        _ plugins: [any PluginType],
        _ make: (_ plugin: Plugin, _ index: Int) -> [Plugin]
    ) -> [Plugin] {
        plugins.enumerated().flatMap { index, plugin in (plugin as? Plugin).map { make($0, index) } ?? [] }
    }
}
