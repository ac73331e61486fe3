private enum ErrorText: RequestOptionKey {
    static let defaultValue: (@Sendable (PipelineError) -> String?)? = nil
}

extension RequestOptions {
    /// Returns the user-facing text for a call's failure, which becomes ``PipelineError/customText``.
    ///
    /// It is called once a call has failed, after every plugin and before `didFinish`. Return `nil` for a failure
    /// without a text of its own. Defaults to `nil`: no text.
    public var errorText: (@Sendable (PipelineError) -> String?)? {
        get { self[ErrorText.self] }
        set { self[ErrorText.self] = newValue }
    }
}

extension PipelineError {
    /// Returns a copy with the call's target, its timeline, and the text that the call's options return for it.
    func described(by call: CallState) -> PipelineError {
        var copy = self
        copy.target = call.target
        copy.timeline = call.shownTimeline
        if let text = call.options.errorText?(copy) { copy.customText = text }
        return copy
    }
}
