/// A stack of plugins as a value: built with `if`, `else` and `for`, and put into another.
///
/// ```swift
/// let common = PluginStack {
///     LoggingPlugin(level: .info)
///     if isRetrying { RetryPlugin() }
///     for plugin in extraPlugins { plugin }
/// }
/// let provider = Provider<Library>(
///     transport: URLSessionTransport(),
///     plugins: PluginStack {
///         common
///         AccessTokenPlugin { _ in try await session.token() }
///     })
/// ```
///
/// A stack within a stack stands for its plugins: `explain()` shows them one by one.
public struct PluginStack: Sendable {
    /// The plugins, outermost first.
    public var plugins: [any PluginType]

    /// A stack of these plugins, outermost first.
    public init(_ plugins: [any PluginType] = []) {
        self.plugins = plugins
    }

    /// A stack of what the builder lists, outermost first.
    public init(@PluginStackBuilder _ makeStack: () -> PluginStack) {
        self = makeStack()
    }
}
