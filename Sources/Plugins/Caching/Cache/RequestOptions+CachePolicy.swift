public import PipelineCore

private enum CachePolicyOption: RequestOptions.Key {
    static let defaultValue: CachePolicy? = nil

    static func pluginOption(for value: CachePolicy?) -> RequestOptions.PluginOption? {
        value == nil || value == .standard || value == .noStore ? nil : .cachePolicy
    }
}

extension RequestOptions {
    /// How ``CachePlugin`` handles the call; `nil` for ``CachePolicy/standard``.
    ///
    /// ```swift
    /// try await provider.request(.news, options: .init { $0.cachePolicy = .reload })
    /// ```
    public var cachePolicy: CachePolicy? {
        get { self[CachePolicyOption.self] }
        set { self[CachePolicyOption.self] = newValue }
    }
}

extension RequestOptions.PluginOption {
    /// The plugin option for `RequestOptions.cachePolicy`.
    public static let cachePolicy = Self("cachePolicy", of: "CachePlugin")
}

extension CachePlugin: OptionHandling {
    /// The option that this plugin handles: `cachePolicy`.
    public var handledOptions: [RequestOptions.PluginOption] { [.cachePolicy] }
}
