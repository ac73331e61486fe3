public import PipelineCore

private enum RequestCompression: RequestOptions.Key {
    static let defaultValue: GzipPlugin.RequestCompression? = nil

    static func pluginOption(for value: GzipPlugin.RequestCompression?) -> RequestOptions.PluginOption? {
        if let value, value != .never { .requestCompression } else { nil }
    }
}

extension RequestOptions {
    /// When ``GzipPlugin`` compresses the body.
    ///
    /// Defaults to `nil`, which leaves it to the plugin's own setting.
    public var requestCompression: GzipPlugin.RequestCompression? {
        get { self[RequestCompression.self] }
        set { self[RequestCompression.self] = newValue }
    }
}

extension GzipPlugin {
    /// When request bodies are compressed, out of those that can become smaller.
    public struct RequestCompression: Sendable, Hashable {
        private enum Kind { case never, whenOffered, always }

        private let kind: Kind

        /// Sends all bodies as they are.
        public static let never = Self(kind: .never)
        /// Compresses a body if a response of the same origin and path said that the server decodes gzip.
        ///
        /// Such a response has the field Accept-Encoding with gzip. The path is the target's `pathTemplate` if it has
        /// one. At most 1,000 paths are remembered.
        ///
        /// Source: RFC 9110 §12.5.3, https://www.rfc-editor.org/rfc/rfc9110.html#section-12.5.3
        public static let whenOffered = Self(kind: .whenOffered)
        /// Compresses every body, for servers that are known to decode gzip.
        public static let always = Self(kind: .always)
    }
}

extension RequestOptions.PluginOption {
    /// The plugin option for ``RequestOptions/requestCompression``.
    public static let requestCompression = Self("requestCompression", of: "GzipPlugin")
}

extension GzipPlugin: OptionHandling {
    /// The option that this plugin handles: `requestCompression`.
    public var handledOptions: [RequestOptions.PluginOption] { [.requestCompression] }
}
