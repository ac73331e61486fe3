/// A plugin that knows which orders are wrong for it, and says so in `explain()`.
public protocol OrderChecking: PluginType {
    /// What is wrong with the plugin's place; empty when nothing is known to be.
    func findings(in surroundings: PluginSurroundings) -> [PipelineDescription.Finding]

    /// What a reader of the stack should know although nothing is wrong; by default nothing.
    func notes(in surroundings: PluginSurroundings) -> [PipelineDescription.Finding]
}

extension OrderChecking {
    /// Nothing.
    public func notes(in surroundings: PluginSurroundings) -> [PipelineDescription.Finding] { [] }
}

/// What stands around a plugin in a stack.
public struct PluginSurroundings: Sendable {
    /// The plugins outside it, the outermost first.
    public let outside: [any PluginType]
    /// The plugins inside it, the nearest first.
    public let inside: [any PluginType]
    /// The transport at the end.
    public let transport: any Transport
}
