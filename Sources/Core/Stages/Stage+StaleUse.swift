extension Stage {
    /// When a cache may respond with a stale response after an error, which plugins agree on in the context of a call.
    ///
    /// ```swift
    /// context.update(Stage.StaleUse.self) { $0 = .afterRetries }
    /// ```
    ///
    /// Without a plugin that changes the value, a cache responds itself as soon as an exchange has failed. A plugin
    /// outside retries sets ``afterRetries``. A cache that has a stale response then passes the failure on and sets
    /// ``available``. When all retries have failed, the outer plugin changes that to ``required`` and runs the plugins
    /// inside again, which get the stale response.
    ///
    /// Source: RFC 5861 §4, https://www.rfc-editor.org/rfc/rfc5861.html#section-4
    public struct StaleUse: PipelineContext.Key, Sendable, Hashable {
        private let name: String

        /// The cache responds itself.
        public static let atOnce = Stage.StaleUse(name: "atOnce")
        /// A plugin outside waits until all retries have failed.
        public static let afterRetries = Stage.StaleUse(name: "afterRetries")
        /// That plugin waits, and the cache has a response.
        public static let available = Stage.StaleUse(name: "available")
        /// The cache responds without an exchange.
        public static let required = Stage.StaleUse(name: "required")

        /// The value of a call in which no plugin has set one: ``atOnce``.
        public static let defaultValue = Stage.StaleUse.atOnce

        /// Returns whether a stale response may replace one with this status: 500, 502, 503 or 504.
        public static func mayReplace(_ statusCode: Int) -> Bool { [500, 502, 503, 504].contains(statusCode) }
    }
}
