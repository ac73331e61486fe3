public import Pipeline

private enum AvoidLogError: RequestOptionKey {
    static let defaultValue = false
}

extension RequestOptions {
    /// Whether `LoggingPlugin` keeps quiet when the call fails.
    ///
    /// For failures that are expected. The lines of the exchanges are still written. Default `false`.
    public var avoidLogError: Bool {
        get { self[AvoidLogError.self] }
        set { self[AvoidLogError.self] = newValue }
    }
}
