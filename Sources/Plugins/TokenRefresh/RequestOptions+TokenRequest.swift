public import Pipeline

private enum IsTokenRequest: RequestOptionKey {
    static let defaultValue = false
}

extension RequestOptions {
    /// Whether the call itself asks for a token, as a log-in or a refresh does, so that ``TokenRefreshPlugin`` does not touch it.
    ///
    /// It gets no token, waits for no refresh and causes none, whatever the response. That holds without the plugin, too, so no plugin
    /// has to handle it. Defaults to `false`.
    public var isTokenRequest: Bool {
        get { self[IsTokenRequest.self] }
        set { self[IsTokenRequest.self] = newValue }
    }
}
