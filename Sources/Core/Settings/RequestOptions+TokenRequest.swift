private enum IsTokenRequest: RequestOptionKey {
    static let defaultValue = false
}

extension RequestOptions {
    /// Whether the call itself requests a token, as a login or a refresh does, so that `TokenRefreshPlugin` leaves it
    /// alone.
    ///
    /// Such a call gets no token, waits for no refresh and causes none, whatever the response. Its ``priority`` is high
    /// unless set. No plugin has to handle the option. Defaults to `false`.
    public var isTokenRequest: Bool {
        get { self[IsTokenRequest.self] }
        set { self[IsTokenRequest.self] = newValue }
    }
}
