public import PipelineCore

private enum BasicAuth: RequestOptions.Key {
    static let defaultValue: PasswordCredential? = nil

    static func pluginOption(for value: PasswordCredential?) -> RequestOptions.PluginOption? {
        value.map { _ in .basicAuth }
    }
}

extension RequestOptions {
    /// The user name and the password that ``BasicAuthPlugin`` sends with this call.
    ///
    /// It overrides an Authorization field that is already set, and the plugin's own credential. Defaults to `nil`,
    /// which leaves the credential to the plugin.
    ///
    /// ```swift
    /// try await provider.request(.login, options: .init { $0.basicAuth = .init(username: name, password: password) })
    /// ```
    public var basicAuth: PasswordCredential? {
        get { self[BasicAuth.self] }
        set { self[BasicAuth.self] = newValue }
    }
}

extension RequestOptions.PluginOption {
    /// The plugin option for ``RequestOptions/basicAuth``.
    public static let basicAuth = Self("basicAuth", of: "BasicAuthPlugin")
}

extension BasicAuthPlugin: OptionHandling {
    /// The option that this plugin handles: `basicAuth`.
    public var handledOptions: [RequestOptions.PluginOption] { [.basicAuth] }
}
