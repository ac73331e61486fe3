public import HTTPTypes
public import PipelineCore

/// Error texts for the user, by status, code or kind of error.
///
/// ```swift
/// api.options.errorTexts.set("You are not logged in", for: .unauthorized)
/// ```
public struct ErrorTexts: Sendable, Hashable {
    private var statuses: [Int: String] = [:]
    private var codes: [PipelineError.Code: String] = [:]
    private var kinds: [PipelineError.Code.Kind: String] = [:]
    /// The texts to fall back to, in order.
    private var others: [ErrorTexts] = []

    /// Creates an empty set of texts.
    public init() {}

    /// Sets the text for failures with a status, replacing an earlier one.
    public mutating func set(_ text: String, for status: HTTPResponse.Status) { statuses[status.code] = text }

    /// Sets the text for failures with a code, replacing an earlier one.
    public mutating func set(_ text: String, for code: PipelineError.Code) { codes[code] = text }

    /// Sets the text for failures of a kind whose code has no text of its own.
    public mutating func set(_ text: String, for kind: PipelineError.Code.Kind) { kinds[kind] = text }

    /// The text for an error: that of its status if the status was not accepted, else that of its code or kind.
    func text(for error: PipelineError) -> String? {
        ownText(for: error) ?? others.lazy.compactMap { $0.text(for: error) }.first
    }

    private func ownText(for error: PipelineError) -> String? {
        if error.code == .unacceptableStatus, let status = error.response?.statusCode, let text = statuses[status] {
            return text
        }
        return codes[error.code] ?? kinds.first { error.code.isKind(of: $0.key) }?.value
    }

    /// The other texts, with these as a fallback.
    func overridden(by other: ErrorTexts) -> ErrorTexts {
        var copy = other
        copy.others.append(self)
        return copy
    }
}

private enum ErrorTextsOption: RequestOptions.Key {
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

extension APIRequest {
    /// Returns a copy that sets `PipelineError.customText`, a text for the user, for failures with this status.
    ///
    /// The last text for a status replaces earlier ones.
    ///
    /// ```swift
    /// request.addCustomError(.notFound, "There is no such post").addCustomError(.offline, "You are offline")
    /// ```
    public func addCustomError(_ status: HTTPResponse.Status, _ text: String) -> Self {
        options { $0.errorTexts.set(text, for: status) }
    }

    /// Returns a copy that sets `PipelineError.customText`, a text for the user, for failures with this code.
    ///
    /// The last text for a code replaces earlier ones.
    public func addCustomError(_ code: PipelineError.Code, _ text: String) -> Self {
        options { $0.errorTexts.set(text, for: code) }
    }

    /// Returns a copy that sets `PipelineError.customText`, a text for the user, for failures of this kind.
    ///
    /// A text for the code itself takes precedence. The last text for a kind replaces earlier ones.
    public func addCustomError(_ kind: PipelineError.Code.Kind, _ text: String) -> Self {
        options { $0.errorTexts.set(text, for: kind) }
    }
}
