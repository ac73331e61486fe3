public import Pipeline

private enum IsTokenRequest: RequestOptionKey {
    static let defaultValue = false
}

extension RequestOptions {
    /// Whether the call itself asks for a token, a log-in or a refresh: `TokenRefreshPlugin` leaves it alone then.
    ///
    /// It is given no token, waits for no refresh and causes none, whatever is answered. Default `false`.
    public var isTokenRequest: Bool {
        get { self[IsTokenRequest.self] }
        set { self[IsTokenRequest.self] = newValue }
    }
}
