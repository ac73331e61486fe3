public import PipelineCore

private enum ErrorTextsOption: RequestOptionKey {
    static let defaultValue = ErrorTexts()
}

extension RequestOptions {
    /// Error texts for the user, one of which becomes `PipelineError.customText` of the call's error.
    ///
    /// Defaults to none. Setting this property also sets `RequestOptions.errorText`.
    public var errorTexts: ErrorTexts {
        get { self[ErrorTextsOption.self] }
        set {
            self[ErrorTextsOption.self] = newValue
            errorText = { newValue.text(for: $0) }
        }
    }
}
