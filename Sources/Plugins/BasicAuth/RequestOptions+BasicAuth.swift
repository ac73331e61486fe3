public import Pipeline

private enum BasicAuth: RequestOptionKey {
    static let defaultValue: PasswordCredential? = nil
}

extension RequestOptions {
    /// The user name and the password that `BasicAuthPlugin` sends with this call.
    ///
    /// It replaces an Authorization that is there already, and the plugin's own credential. Default `nil`: the plugin decides.
    ///
    /// ```swift
    /// try await provider.request(.login, options: .init { $0.basicAuth = .init(username: name, password: password) })
    /// ```
    public var basicAuth: PasswordCredential? {
        get { self[BasicAuth.self] }
        set { self[BasicAuth.self] = newValue }
    }
}
