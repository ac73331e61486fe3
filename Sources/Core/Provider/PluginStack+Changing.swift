extension PluginStack {
    /// Returns a stack with a plugin inserted directly outside another one.
    ///
    /// ```swift
    /// PluginStack.standard.inserting(ActivityPlugin(), before: RetryPlugin.self)
    /// ```
    ///
    /// - Parameters:
    ///   - plugin: the plugin or stack to insert.
    ///   - anchor: the type of a plugin in the stack; the outermost one counts. If the stack has none, the program
    ///     stops, because that is a programmer error.
    /// - Returns: the stack with the plugin.
    public func inserting<Anchor: PluginType>(_ plugin: any PluginType, before anchor: Anchor.Type) -> PluginStack {
        guard let index = plugins.firstIndex(where: { $0 is Anchor }) else { missing(anchor, plugin, "before") }
        return inserting(plugin, at: index)
    }

    /// Returns a stack with a plugin inserted directly inside another one.
    ///
    /// - Parameters:
    ///   - plugin: the plugin or stack to insert.
    ///   - anchor: the type of a plugin in the stack; the innermost one counts. If the stack has none, the program
    ///     stops, because that is a programmer error.
    /// - Returns: the stack with the plugin.
    public func inserting<Anchor: PluginType>(_ plugin: any PluginType, after anchor: Anchor.Type) -> PluginStack {
        guard let index = plugins.lastIndex(where: { $0 is Anchor }) else { missing(anchor, plugin, "after") }
        return inserting(plugin, at: index + 1)
    }

    /// Returns the stack without the plugins of a type, or the same stack if it has none.
    public func removing<Removed: PluginType>(_ type: Removed.Type) -> PluginStack {
        PluginStack(plugins.filter { !($0 is Removed) })
    }

    private func inserting(_ plugin: any PluginType, at index: Int) -> PluginStack {
        PluginStack(plugins[..<index] + [plugin] + plugins[index...])
    }

    private func missing(_ anchor: Any.Type, _ plugin: any PluginType, _ side: String) -> Never {
        preconditionFailure(
            "\(plugin.name) cannot be inserted \(side) \(anchor), because the stack has none: it has "
                + (plugins.isEmpty ? "no plugins" : name)
        )
    }
}
