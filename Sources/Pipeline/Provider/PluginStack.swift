/// A list of plugins as a value: built with `if`, `else` and `for`, changed by type, and used wherever a plugin is.
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
/// A stack takes part in no stage itself. Providers and other stacks replace it with its plugins, so `explain()` shows them one by one.
public struct PluginStack: PluginType {
    /// The plugins, outermost first; none of them is a stack.
    public let plugins: [any PluginType]

    /// The names of the plugins, separated by commas.
    public var name: String { plugins.map(\.name).joined(separator: ", ") }

    /// Makes a stack of plugins and of the plugins of other stacks, outermost first.
    public init(_ plugins: [any PluginType] = []) {
        self.plugins = plugins.flatMap { ($0 as? PluginStack)?.plugins ?? [$0] }
    }

    /// Makes a stack of what the builder lists, outermost first.
    public init(@PluginStackBuilder _ makeStack: () -> PluginStack) {
        self = makeStack()
    }
}

extension PluginStack: ExpressibleByArrayLiteral {
    /// Makes a stack of plugins and of the plugins of other stacks, outermost first.
    public init(arrayLiteral plugins: any PluginType...) {
        self.init(plugins)
    }
}
