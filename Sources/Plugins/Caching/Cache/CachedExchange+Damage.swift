import HTTPTypes
import PipelineCore

extension CachedExchange {
    /// Removes the stored response from which the latest response of the call comes, or that it becomes when its body
    /// has been read, if a plugin outside finds the body damaged.
    ///
    /// Only bodies in a content coding are observed, whose damage appears when they are decoded.
    func observeDamage(of entry: CacheEntry?, _ headers: HTTPFields) {
        guard headers.contains(.contentEncoding) else { return }
        guard let entry else { return context.observe(DamagedBody.self, by: plugin, nil) }
        context.observe(DamagedBody.self, by: plugin) { [plugin, resource] _, context in
            await plugin.remove(entry, of: resource, context)
        }
    }
}
