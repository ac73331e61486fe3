/// A description of a provider's stack: its plugins in order, how often their stages run, its transport, and problems
/// with its order.
///
/// It prints as a tree of three levels: the call, each hop and the wire. A plugin wraps what is nested under it, which
/// runs each time that the plugin sends the request.
public struct PipelineDescription: Sendable, CustomStringConvertible {
    /// How often a stage runs.
    public struct Frequency: Sendable, Hashable, CustomStringConvertible {
        /// The frequency in words, such as "per call".
        public let description: String

        /// The stage runs once per call.
        public static let perCall = Frequency(description: "per call")
        /// The stage runs once per exchange, so also for every retry and every redirect.
        public static let perExchange = Frequency(description: "per exchange")
        /// Returns the frequency of a stage that runs once per hop, and each time that one of the given outer exchange
        /// plugins sends.
        ///
        /// A hop is the first request of an attempt, or a redirect.
        public static func perHop(of plugins: [String]) -> Frequency {
            let senders = plugins.isEmpty ? "" : " and send of " + plugins.joined(separator: ", ")
            return Frequency(description: "per hop" + senders)
        }
        /// Returns the frequency of a stage that runs each time that one of the given outer interceptors sends the
        /// request on.
        public static func perPass(of interceptors: [String]) -> Frequency {
            Frequency(description: "per pass of " + interceptors.joined(separator: ", "))
        }
    }

    /// A stage of a plugin and how often it runs.
    public struct StageRun: Sendable, Hashable {
        /// The stage that the plugin takes part in.
        public let stage: Stage.Kind
        /// How often the stage runs.
        public let frequency: Frequency
        /// The options that make the stage run if a call sets one of them; `nil` if the stage runs for every call.
        public let options: Set<RequestOptions.PluginOption>?
    }

    /// A plugin at its position in the stack.
    public struct Entry: Sendable, Hashable {
        /// The position of the plugin, 1 for the outermost.
        public let position: Int
        /// The name of the plugin, from ``PluginType/name``.
        public let name: String
        /// The stages of the plugin, in the order of a request's path.
        public let stages: [StageRun]
    }

    /// The plugins, outermost first.
    public let entries: [Entry]
    /// The name of the transport, from ``Transport/name``.
    public let transport: String
    /// Whether the transport decodes bodies from their content coding.
    public let transportDecodesContent: Bool
    /// Leaks and faults, in the order of the stack; empty if none are known.
    ///
    /// ``ProviderConfiguration/findings`` reports them when a provider is made.
    public let findings: [Finding]
    /// Remarks about an order that may be intended.
    public let hints: [Finding]

    init(plugins: [any PluginType], transport: any Transport, target: any TargetType.Type) {
        var outside: [String] = []
        var outsideOnHop: [String] = []
        var entries: [Entry] = []
        for (index, plugin) in plugins.enumerated() {
            let inherited: Frequency = outside.isEmpty ? .perCall : .perPass(of: outside)
            let stages = Stage.Kind.all(of: plugin).map { stage in
                let frequency: Frequency =
                    switch stage {
                    case .willSend, .didReceive: .perExchange
                    case .didFinish: .perCall
                    case .exchange: .perHop(of: outsideOnHop)
                    case .prepare, .intercept, .process: inherited
                    }
                return StageRun(stage: stage, frequency: frequency, options: stage.wakingOptions(of: plugin))
            }
            entries.append(Entry(position: index + 1, name: plugin.name, stages: stages))
            if plugin is any Stage.Intercept { outside.append(plugin.name) }
            if plugin is any Stage.Exchange { outsideOnHop.append(plugin.name) }
        }
        let all = Self.findings(of: plugins, transport, for: target)
        self.entries = entries
        self.transport = transport.name
        self.transportDecodesContent = transport.decodesContent
        findings = all.filter { $0.severity != .hint }
        hints = all.filter { $0.severity == .hint }
    }
}
