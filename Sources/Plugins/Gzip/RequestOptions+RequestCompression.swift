public import Pipeline

private enum RequestCompression: RequestOptionKey {
    static let defaultValue: GzipPlugin.RequestCompression? = nil

    static func pluginOption(for value: GzipPlugin.RequestCompression?) -> RequestOptions.PluginOption? {
        if let value, value != .off { .requestCompression } else { nil }
    }
}

extension RequestOptions {
    /// Which bodies ``GzipPlugin`` compresses; `nil`, the default, leaves it to the plugin's own setting.
    public var requestCompression: GzipPlugin.RequestCompression? {
        get { self[RequestCompression.self] }
        set { self[RequestCompression.self] = newValue }
    }
}

extension GzipPlugin {
    /// Which bodies of requests are compressed, of those that can become smaller.
    public struct RequestCompression: Sendable, Hashable {
        private enum Kind { case off, bytes, all }

        private let kind: Kind

        /// None.
        public static let off = Self(kind: .off)
        /// Those in memory, which still are sent with their length.
        public static let bytes = Self(kind: .bytes)
        /// Files and streams as well; they are sent without a length, in chunks, by transports that can.
        public static let all = Self(kind: .all)
    }
}

extension RequestOptions.PluginOption {
    /// ``RequestOptions/requestCompression``.
    public static let requestCompression = Self("requestCompression", of: "GzipPlugin")
}

extension GzipPlugin: OptionHandling {
    /// `requestCompression`.
    public var handledOptions: [RequestOptions.PluginOption] { [.requestCompression] }
}
