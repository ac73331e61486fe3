public import Pipeline

private enum RequestID: RequestOptionKey {
    static let defaultValue: String? = nil

    static func pluginOption(for value: String?) -> RequestOptions.PluginOption? {
        value.map { _ in .requestID }
    }
}

extension RequestOptions {
    /// The id that ``RequestIDPlugin`` sends with the call, 1 to 255 visible ASCII characters.
    ///
    /// Another one fails the call before it is sent. Default `nil`: the plugin makes one.
    public var requestID: String? {
        get { self[RequestID.self] }
        set { self[RequestID.self] = newValue }
    }
}

extension RequestOptions.PluginOption {
    /// ``RequestOptions/requestID``.
    public static let requestID = Self("requestID", of: "RequestIDPlugin")
}

extension RequestIDPlugin: OptionHandling {
    /// `requestID`.
    public var handledOptions: [RequestOptions.PluginOption] { [.requestID] }
}
