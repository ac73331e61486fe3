public import Pipeline
public import PipelinePlugins

/// A wrapper for a plugin of Pipeline that does not itself conform to ``PluginType``.
///
/// Plugins of the module PipelinePlugins conform. Wrap your own, and those of other modules, such as `InspectorPlugin`
/// of PipelineRecording: this module does not depend on PipelineRecording, so that apps do not link the inspector.
///
/// Plugins of Pipeline keep their order, and run inside all other plugins of the provider, whatever their position in
/// its list. They take no part in stubs.
public struct NativePlugin: PluginType {
    let plugin: any Pipeline.PluginType
}

extension PluginType where Self == NativePlugin {
    /// Wraps a plugin of Pipeline.
    public static func native(_ plugin: any Pipeline.PluginType) -> NativePlugin {
        NativePlugin(plugin: plugin)
    }
}

extension PluginStack: PluginType {}

extension ActivityPlugin: PluginType {}
extension BasicAuthPlugin: PluginType {}
extension CachePlugin: PluginType {}
extension ChaosPlugin: PluginType {}
extension CircuitBreakerPlugin: PluginType {}
extension ConcurrencyLimitPlugin: PluginType {}
extension CookiePlugin: PluginType {}
extension DeduplicationPlugin: PluginType {}
extension EventsPlugin: PluginType {}
extension FallbackPlugin: PluginType {}
extension GzipPlugin: PluginType {}
extension HeadersPlugin: PluginType {}
extension HedgingPlugin: PluginType {}
extension LoggingPlugin: PluginType {}
extension MinimumDurationPlugin: PluginType {}
extension OAuthPlugin: PluginType {}
extension PipelinePlugins.AccessTokenPlugin: PluginType {}
extension PipelinePlugins.CredentialsPlugin: PluginType {}
extension RateLimitPlugin: PluginType {}
extension RequestIDPlugin: PluginType {}
extension RetryPlugin: PluginType {}
extension SigningPlugin: PluginType {}
extension TimeoutPlugin: PluginType {}
extension TokenRefreshPlugin: PluginType {}
extension UnauthorizedPlugin: PluginType {}
#if Metrics
extension MetricsPlugin: PluginType {}
#endif
#if Tracing
extension TracingPlugin: PluginType {}
#endif
