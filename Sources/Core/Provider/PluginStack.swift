/// A list of plugins that is built with `if`, `else` and `for`, changed by type, and used wherever a plugin is.
///
/// ```swift
/// let common = PluginStack {
///     LoggingPlugin(level: .info)
///     if isRetrying { RetryPlugin() }
///     for plugin in extraPlugins { plugin }
/// }
/// let provider = Provider<Library>(
///     transport: URLSessionTransport(),
///     plugins: [common, AccessTokenPlugin { _ in try await session.token() }]
/// )
/// ```
///
/// A stack itself takes part in no stage. Providers and other stacks replace it with its plugins, so `explain()` lists
/// them one by one.
public struct PluginStack: PluginType {
    /// The plugins, outermost first; none of them is a stack.
    public let plugins: [any PluginType]

    /// The names of the plugins, separated by commas.
    public var name: String { plugins.map(\.name).joined(separator: ", ") }

    /// Makes a stack from plugins and the plugins of other stacks, outermost first.
    public init(_ plugins: [any PluginType] = []) {
        self.plugins = plugins.flatMap { ($0 as? PluginStack)?.plugins ?? [$0] }
    }

    /// Makes a stack from what the builder lists, outermost first.
    public init(@PluginStack.Builder _ makeStack: () -> PluginStack) {
        self = makeStack()
    }
}

extension PluginStack: ExpressibleByArrayLiteral {
    /// Makes a stack from plugins and the plugins of other stacks, outermost first.
    public init(arrayLiteral plugins: any PluginType...) {
        self.init(plugins)
    }
}
