import Pipeline

extension Overhead {
    /// Returns cases for `PluginStack.standard` with credentials, and for each of its plugins alone.
    static func standard() -> [Case] {
        let authentication: [any PluginType] = [
            AccessTokenPlugin { _ in "2YotnFZFEjr1zCsicMWpAA" },
            HeadersPlugin(["X-Client": "shop/1.0"]),
        ]
        let plugins: [any PluginType] = [
            LoggingPlugin(level: .error), MinimumDurationPlugin(.zero), TimeoutPlugin(idle: .seconds(60)),
            RequestIDPlugin(),
            RetryPlugin(), authentication[0], authentication[1], GzipPlugin(),
        ]
        let stack = PluginStack.standard { PluginStack(authentication) }
        return plugins.map { request("alone: \($0.name)", plugins: [$0]) } + [
            request("standard stack", plugins: [stack])
        ]
    }
}
