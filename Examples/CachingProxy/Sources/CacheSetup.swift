import Pipeline
import PipelineCaching

extension ProxyOptions {
    /// Returns the cache of the proxy, which keeps responses in memory.
    func makeCachePlugin() -> any PluginType {
        if isPrivate { return CachePlugin() }
        // Stale responses are better than none if the origin is down.
        var rules = CacheRules(audience: .shared, staleIfError: .seconds(86_400))
        if isCDN { rules.targetedFields = [HTTPField.Name("CDN-Cache-Control")].compactMap(\.self) }
        return CachePlugin(rules: rules)
    }
}
