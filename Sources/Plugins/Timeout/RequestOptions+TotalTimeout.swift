public import Pipeline

private enum TotalTimeout: RequestOptionKey {
    static let defaultValue: Duration? = nil
}

extension RequestOptions {
    /// The longest that the whole call may take, with all its attempts and waits; more than zero.
    ///
    /// Wins over the `total` of ``TimeoutPlugin``, which enforces it: without that plugin in the stack it does nothing. Default `nil`:
    /// the plugin's.
    public var totalTimeout: Duration? {
        get { self[TotalTimeout.self] }
        set {
            if let newValue { precondition(newValue > .zero, "totalTimeout is \(newValue), not more than zero") }
            self[TotalTimeout.self] = newValue
        }
    }
}
