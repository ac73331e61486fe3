public import PipelineAuth
public import PipelineCore
public import PipelinePlugins

/// A wrapper for a plugin of Pipeline that does not itself conform to ``PluginType``.
///
/// Plugins of the modules PipelinePlugins and PipelineAuth conform. Wrap your own, and those of other modules, such as
/// `CachePlugin` and `InspectorPlugin`: this module does not depend on theirs, so that apps do not link them.
///
/// Plugins of Pipeline keep their order, and run inside all other plugins of the provider, whatever their position in
/// its list. They take no part in stubs.
public struct NativePlugin: PluginType {
    let plugin: any PipelineCore.PluginType
}

extension PluginType where Self == NativePlugin {
    /// Wraps a plugin of Pipeline.
    public static func native(_ plugin: any PipelineCore.PluginType) -> NativePlugin {
        NativePlugin(plugin: plugin)
    }
}

extension PluginStack: PluginType {}

extension ActivityPlugin: PluginType {}
extension BasicAuthPlugin: PluginType {}
extension DeduplicationPlugin: PluginType {}
extension EventsPlugin: PluginType {}
extension GzipPlugin: PluginType {}
extension HeadersPlugin: PluginType {}
extension LoggingPlugin: PluginType {}
extension MinimumDurationPlugin: PluginType {}
extension OAuthPlugin: PluginType {}
extension PipelinePlugins.AccessTokenPlugin: PluginType {}
extension PipelineAuth.CredentialsPlugin: PluginType {}
extension RequestIDPlugin: PluginType {}
extension RetryPlugin: PluginType {}
extension TimeoutPlugin: PluginType {}
extension TokenRefreshPlugin: PluginType {}
extension UnauthorizedPlugin: PluginType {}
