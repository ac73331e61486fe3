public import Pipeline

private enum ErrorTextsOption: RequestOptionKey {
    static let defaultValue = ErrorTexts()
}

extension RequestOptions {
    /// Texts for people, one of which the error of the call gets as `PipelineError.customText`.
    ///
    /// Default: none. Setting them sets `RequestOptions.errorText`, too.
    public var errorTexts: ErrorTexts {
        get { self[ErrorTextsOption.self] }
        set {
            self[ErrorTextsOption.self] = newValue
            errorText = { newValue.text(for: $0) }
        }
    }
}
