public import HTTPTypes
public import Pipeline

/// Texts for people by what went wrong: a status, or a code.
///
/// ```swift
/// let texts = ErrorTexts().adding("You are not logged in", for: .unauthorized)
/// ```
public struct ErrorTexts: Sendable, Hashable {
    private var statuses: [Int: String] = [:]
    private var codes: [PipelineError.Code: String] = [:]
    /// Those that are asked when these have no text, one after the other.
    private var others: [ErrorTexts] = []

    /// None.
    public init() {}

    /// Sets the text for failures of a status, replacing one that is there.
    public mutating func set(_ text: String, for status: HTTPResponse.Status) { statuses[status.code] = text }

    /// Sets the text for failures of a code and its details; the text of a detail wins over that of its kind.
    public mutating func set(_ text: String, for code: PipelineError.Code) { codes[code] = text }

    /// A copy with a text for failures of a status.
    public func adding(_ text: String, for status: HTTPResponse.Status) -> ErrorTexts {
        var copy = self
        copy.set(text, for: status)
        return copy
    }

    /// A copy with a text for failures of a code and its details.
    public func adding(_ text: String, for code: PipelineError.Code) -> ErrorTexts {
        var copy = self
        copy.set(text, for: code)
        return copy
    }

    /// The text for an error: that of its status when that was not accepted, else that of its code.
    func text(for error: PipelineError) -> String? {
        ownText(for: error) ?? others.lazy.compactMap { $0.text(for: error) }.first
    }

    private func ownText(for error: PipelineError) -> String? {
        if error.code == .unacceptableStatus, let status = error.response?.statusCode, let text = statuses[status] {
            return text
        }
        if codes.isEmpty { return nil }
        let kinds = codes.filter { error.code.isKind(of: $0.key) }
        return kinds.max { $0.key.rawValue.count < $1.key.rawValue.count }?.value
    }

    /// Others, with these for what those have no text for.
    func overridden(by other: ErrorTexts) -> ErrorTexts {
        var copy = other
        copy.others.append(self)
        return copy
    }
}
