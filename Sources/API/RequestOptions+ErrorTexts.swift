public import Pipeline

private enum ErrorTextsOption: RequestOptionKey {
    static let defaultValue = ErrorTexts()
}

extension RequestOptions {
    /// Texts for people, one of which becomes `PipelineError.customText` of the call's error.
    ///
    /// Defaults to none. Setting them also sets `RequestOptions.errorText`.
    public var errorTexts: ErrorTexts {
        get { self[ErrorTextsOption.self] }
        set {
            self[ErrorTextsOption.self] = newValue
            errorText = { newValue.text(for: $0) }
        }
    }
}
