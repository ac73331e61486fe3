private enum ErrorTextsOption: RequestOptionKey {
    static let defaultValue = ErrorTexts()
}

extension RequestOptions {
    /// Texts for people, one of which the error of the call gets as ``PipelineError/customText``.
    ///
    /// Default: none.
    public var errorTexts: ErrorTexts {
        get { self[ErrorTextsOption.self] }
        set { self[ErrorTextsOption.self] = newValue }
    }
}

extension CallResult {
    /// The result, a failure with the text that the options have for it.
    func described(by options: @autoclosure () -> RequestOptions) -> CallResult {
        mapError { $0.described(by: options()) }
    }
}

extension PipelineError {
    /// A copy with the text that the options have for it.
    func described(by options: RequestOptions) -> PipelineError {
        guard let text = options.errorTexts.text(for: self) else { return self }
        var copy = self
        copy.customText = text
        return copy
    }
}
