extension PluginStack {
    /// The result builder of ``PluginStack``, which accepts plugins, stacks, `if`, `else`, `switch` and `for`.
    ///
    /// Write a plugin made from a closure as `PluginStack.prepare { … }`. A line that begins with a dot, such as
    /// `.prepare { … }`, does not compile, because Swift joins it to the line before.
    @resultBuilder
    public enum Builder {
        /// Makes a stack from a plugin or another stack.
        public static func buildExpression(_ plugin: any PluginType) -> PluginStack { PluginStack([plugin]) }

        /// Joins the statements of a block into one stack.
        public static func buildBlock(_ parts: PluginStack...) -> PluginStack { PluginStack(parts) }

        /// Joins the iterations of a `for` loop into one stack.
        public static func buildArray(_ parts: [PluginStack]) -> PluginStack { PluginStack(parts) }

        /// Returns the stack of an `if` without `else`, which is empty if the condition does not hold.
        public static func buildOptional(_ part: PluginStack?) -> PluginStack { part ?? PluginStack() }

        /// Returns the stack of an `if` whose condition holds.
        public static func buildEither(first part: PluginStack) -> PluginStack { part }

        /// Returns the stack of an `else`.
        public static func buildEither(second part: PluginStack) -> PluginStack { part }

        /// Returns the stack of an `if #available`.
        public static func buildLimitedAvailability(_ part: PluginStack) -> PluginStack { part }
    }
}
