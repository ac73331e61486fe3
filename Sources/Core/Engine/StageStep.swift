/// A stage of a plugin at its position in the stack, as one reference to copy.
final class StageStep<Plugin: Sendable>: Sendable {
    /// The plugin's index in the stack.
    let position: Int
    let plugin: Plugin
    /// The options that make the stage run if a call sets one of them; `nil` if the stage runs for every call.
    private let options: Set<RequestOptions.PluginOption>?

    init(_ position: Int, _ plugin: Plugin, _ options: Set<RequestOptions.PluginOption>?) {
        self.position = position
        self.plugin = plugin
        self.options = options
    }

    /// Whether the stage does nothing for a call.
    @inline(__always)
    func isIdle(in context: PipelineContext) -> Bool {
        guard let options else { return false }
        return !context.call.options.sets(anyOf: options)
    }
}

extension Stage.Kind {
    /// The options that make this stage of a plugin run if a call sets one of them; `nil` if the stage runs for every
    /// call.
    func wakingOptions(of plugin: any PluginType) -> Set<RequestOptions.PluginOption>? {
        switch self {
        case .prepare, .intercept, .process: (plugin as? any OptionHandling)?.idleStages[self]
        case .exchange, .willSend, .didReceive, .didFinish: nil
        }
    }
}
