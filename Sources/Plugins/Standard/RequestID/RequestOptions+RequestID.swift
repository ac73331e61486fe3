public import PipelineCore

private enum RequestID: RequestOptions.Key {
    static let defaultValue: String? = nil

    static func pluginOption(for value: String?) -> RequestOptions.PluginOption? {
        value.map { _ in .requestID }
    }
}

extension RequestOptions {
    /// The id that ``RequestIDPlugin`` sends with the call, 1 to 255 visible ASCII characters.
    ///
    /// With any other text, the call fails before it is sent. Defaults to `nil`: the plugin makes an id.
    public var requestID: String? {
        get { self[RequestID.self] }
        set { self[RequestID.self] = newValue }
    }
}

extension RequestOptions.PluginOption {
    /// The plugin option for ``RequestOptions/requestID``.
    public static let requestID = Self("requestID", of: "RequestIDPlugin")
}

extension RequestIDPlugin: OptionHandling {
    /// The only option that the plugin handles is `requestID`.
    public var handledOptions: [RequestOptions.PluginOption] { [.requestID] }
}
