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
        guard case .failure(var error) = self else { return self }
        guard let text = options().errorTexts.text(for: error) else { return self }
        error.customText = text
        return .failure(error)
    }
}
