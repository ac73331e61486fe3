public import PipelineCore

extension StandardPart {
    /// A cache, and stale responses once all retries have failed.
    public static func cache(_ plugin: CachePlugin = CachePlugin()) -> StandardPart {
        StandardPart([.staleFallback: [StaleFallbackPlugin()], .cache: [plugin]])
    }

    /// Cookies, which are kept and sent back.
    public static func cookies(_ plugin: CookiePlugin = CookiePlugin()) -> StandardPart {
        StandardPart([.cookies: [plugin]])
    }
}
