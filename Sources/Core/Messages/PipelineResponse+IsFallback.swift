extension PipelineResponse {
    /// Whether the response replaces one that could not be obtained.
    ///
    /// It is `true` if a `FallbackPlugin` made the response, and if `CachePlugin` used a stale one after an error.
    /// The value is available until a plugin outside replaces ``source`` or Cache-Status.
    public var isFallback: Bool { source == .fallback || cacheStatus?.reason == CacheStatus.staleIfError }
}
