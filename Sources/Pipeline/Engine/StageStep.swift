/// A stage of a plugin in its place; one reference to copy.
final class StageStep<Plugin: Sendable>: Sendable {
    /// The plugin's index in the stack.
    let position: Int
    let plugin: Plugin
    /// The options of which a call has to set one for the stage to run; `nil` if it runs for every call.
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
    /// The options of which a call has to set one for this stage of a plugin to run; `nil` if it runs for every call.
    func wakingOptions(of plugin: any PluginType) -> Set<RequestOptions.PluginOption>? {
        switch self {
        case .prepare, .intercept, .process: (plugin as? any OptionHandling)?.idleStages[self]
        case .exchange, .willSend, .didReceive, .didFinish: nil
        }
    }
}
