public import PipelineCore

private enum AvoidLogError: RequestOptionKey {
    static let defaultValue = false
}

extension RequestOptions {
    /// Whether ``LoggingPlugin`` leaves out the line of a failure or cancellation of the call.
    ///
    /// Use it for expected failures. The lines of the exchanges are still written. No plugin has to handle the option,
    /// because nothing is written without the plugin anyway. Defaults to `false`.
    public var avoidLogError: Bool {
        get { self[AvoidLogError.self] }
        set { self[AvoidLogError.self] = newValue }
    }
}

extension OptionsModifying {
    /// Returns a copy whose failure ``LoggingPlugin`` does not write.
    public func avoidLogError() -> Self { options { $0.avoidLogError = true } }
}
