private enum ErrorText: RequestOptionKey {
    static let defaultValue: (@Sendable (PipelineError) -> String?)? = nil
}

extension RequestOptions {
    /// Makes the text for people of a call's failure, which becomes ``PipelineError/customText``.
    ///
    /// Called once a call has failed, after every plugin and before `didFinish`; for a failure without a text of its own it returns `nil`.
    /// Defaults to `nil`: no text.
    public var errorText: (@Sendable (PipelineError) -> String?)? {
        get { self[ErrorText.self] }
        set { self[ErrorText.self] = newValue }
    }
}

extension PipelineError {
    /// A copy that names the call's target, with the text that the call's options have for it.
    func described(by call: CallState) -> PipelineError {
        var copy = self
        copy.target = call.target
        if let text = call.options.errorText?(copy) { copy.customText = text }
        return copy
    }
}
