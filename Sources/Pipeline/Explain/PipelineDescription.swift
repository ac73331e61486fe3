/// A description of a provider's stack: its plugins in order, how often their stages run, the transport, and what is wrong with the order.
///
/// It prints as a tree of three levels: the call, each hop and the wire. What is nested under a plugin is what the plugin wraps, and
/// runs each time that the plugin sends the request.
public struct PipelineDescription: Sendable, CustomStringConvertible {
    /// How often a stage runs.
    public struct Frequency: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: Hashable {
            case call
            case pass([String])
            case exchange
            case hop([String])
        }

        private let kind: Kind

        /// Once per call.
        public static let perCall = Frequency(kind: .call)
        /// Once per exchange: for every retry and every redirect.
        public static let perExchange = Frequency(kind: .exchange)
        /// Once per hop, which is the first request of an attempt or a redirect, and for each time that one of these exchange plugins, which
        /// are outside, sends.
        public static func perHop(of plugins: [String]) -> Frequency { Frequency(kind: .hop(plugins)) }
        /// Once for each time that one of these interceptors, which stand outside, sends the request on.
        public static func perPass(of interceptors: [String]) -> Frequency {
            Frequency(kind: .pass(interceptors))
        }

        /// In words.
        public var description: String {
            switch kind {
            case .call: "per call"
            case .exchange: "per exchange"
            case .pass(let names): "per pass of " + names.joined(separator: ", ")
            case .hop([]): "per hop"
            case .hop(let names): "per hop and send of " + names.joined(separator: ", ")
            }
        }
    }

    /// A stage of a plugin and how often it runs.
    public struct StageRun: Sendable, Hashable {
        /// The stage.
        public let stage: Stage.Kind
        /// How often it runs.
        public let frequency: Frequency
        /// The options of which a call has to set one for the stage to run; `nil` if it runs for every call.
        public let options: Set<RequestOptions.PluginOption>?
    }

    /// A plugin in its place.
    public struct Entry: Sendable, Hashable {
        /// Its place, 1 for the outermost.
        public let position: Int
        /// Its name.
        public let name: String
        /// Its stages, in the order of a request's path.
        public let stages: [StageRun]
    }

    /// The plugins, outermost first.
    public let entries: [Entry]
    /// The transport's name.
    public let transport: String
    /// Whether the transport hands bodies over decoded.
    public let transportDecodesContent: Bool
    /// What is wrong with the order; empty when nothing is known to be.
    public let findings: [Finding]
    /// What a reader should know although nothing is wrong.
    public let notes: [Finding]

    init(plugins: [any PluginType], transport: any Transport) {
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
        let all = Self.findings(of: plugins, transport)
        self.entries = entries
        self.transport = transport.name
        self.transportDecodesContent = transport.decodesContent
        findings = all.filter { $0.severity == .finding }
        notes = all.filter { $0.severity == .note }
    }
}
