public import HTTPTypes
public import PipelineCore

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
