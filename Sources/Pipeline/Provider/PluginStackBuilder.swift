/// What the braces of a ``PluginStack`` may contain: plugins, stacks, `if`, `else`, `switch` and `for`.
///
/// Write a plugin from a closure as `PluginStack.prepare { … }`. Swift joins a line that begins with a dot, as in `.prepare { … }`, to the
/// line before it, which does not compile.
@resultBuilder
public enum PluginStackBuilder {
    /// Makes a stack of a plugin or of another stack.
    public static func buildExpression(_ plugin: any PluginType) -> PluginStack { PluginStack([plugin]) }

    /// Joins statements.
    public static func buildBlock(_ parts: PluginStack...) -> PluginStack { PluginStack(parts) }

    /// Joins the iterations of a `for` loop.
    public static func buildArray(_ parts: [PluginStack]) -> PluginStack { PluginStack(parts) }

    /// Makes a stack of an `if` without `else`.
    public static func buildOptional(_ part: PluginStack?) -> PluginStack { part ?? PluginStack() }

    /// Makes a stack of an `if` whose condition holds.
    public static func buildEither(first part: PluginStack) -> PluginStack { part }

    /// Makes a stack of an `else`.
    public static func buildEither(second part: PluginStack) -> PluginStack { part }

    /// Makes a stack of an `if #available`.
    public static func buildLimitedAvailability(_ part: PluginStack) -> PluginStack { part }
}
