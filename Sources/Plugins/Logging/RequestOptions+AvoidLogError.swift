public import Pipeline

private enum AvoidLogError: RequestOptionKey {
    static let defaultValue = false
}

extension RequestOptions {
    /// Whether ``LoggingPlugin`` writes nothing when the call fails.
    ///
    /// For failures that are expected. The lines of the exchanges are still written. Without the plugin nothing is written, so no plugin
    /// has to handle it. Defaults to `false`.
    public var avoidLogError: Bool {
        get { self[AvoidLogError.self] }
        set { self[AvoidLogError.self] = newValue }
    }
}

extension OptionsModifying {
    /// Returns a copy whose failure ``LoggingPlugin`` does not write.
    public func avoidLogError() -> Self { options { $0.avoidLogError = true } }
}
