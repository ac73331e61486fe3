/// What may stand in the braces of a ``PluginStack``: plugins, stacks, arrays of plugins, `if`, `else`, `switch` and `for`.
@resultBuilder
public enum PluginStackBuilder {
    /// A plugin.
    public static func buildExpression(_ plugin: any PluginType) -> PluginStack { PluginStack([plugin]) }

    /// The plugins of another stack.
    public static func buildExpression(_ stack: PluginStack) -> PluginStack { stack }

    /// Plugins.
    public static func buildExpression(_ plugins: [any PluginType]) -> PluginStack { PluginStack(plugins) }

    /// One after the other.
    public static func buildBlock(_ parts: PluginStack...) -> PluginStack { buildArray(parts) }

    /// What a `for` lists.
    public static func buildArray(_ parts: [PluginStack]) -> PluginStack {
        PluginStack(parts.flatMap(\.plugins))
    }

    /// An `if` without `else`.
    public static func buildOptional(_ part: PluginStack?) -> PluginStack { part ?? PluginStack() }

    /// An `if` that holds.
    public static func buildEither(first part: PluginStack) -> PluginStack { part }

    /// An `else`.
    public static func buildEither(second part: PluginStack) -> PluginStack { part }

    /// An `if #available`.
    public static func buildLimitedAvailability(_ part: PluginStack) -> PluginStack { part }
}
