public import Pipeline

private enum RequestCompression: RequestOptionKey {
    static let defaultValue: GzipPlugin.RequestCompression? = nil

    static func pluginOption(for value: GzipPlugin.RequestCompression?) -> RequestOptions.PluginOption? {
        if let value, value != .off { .requestCompression } else { nil }
    }
}

extension RequestOptions {
    /// Which bodies ``GzipPlugin`` compresses.
    ///
    /// Defaults to `nil`, which leaves it to the plugin's own setting.
    public var requestCompression: GzipPlugin.RequestCompression? {
        get { self[RequestCompression.self] }
        set { self[RequestCompression.self] = newValue }
    }
}

extension GzipPlugin {
    /// Which request bodies are compressed, out of those that can become smaller.
    public struct RequestCompression: Sendable, Hashable {
        private enum Kind { case off, bytes, all }

        private let kind: Kind

        /// Leaves all bodies uncompressed.
        public static let off = Self(kind: .off)
        /// Compresses bodies in memory, which are still sent with their length.
        public static let bytes = Self(kind: .bytes)
        /// Compresses bodies in memory, files and streams.
        ///
        /// Files and streams are sent without a length, in chunks, by transports that can.
        public static let all = Self(kind: .all)
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
