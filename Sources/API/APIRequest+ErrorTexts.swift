public import HTTPTypes
public import Pipeline

extension APIRequest {
    /// Returns a copy with a text for people, `PipelineError.customText`, for failures with this status.
    ///
    /// Of several texts for one status the last wins.
    ///
    /// ```swift
    /// request.addCustomError(.notFound, "There is no such post").addCustomError(.offline, "You are offline")
    /// ```
    public func addCustomError(_ status: HTTPResponse.Status, _ text: String) -> Self {
        options { $0.errorTexts.set(text, for: status) }
    }

    /// Returns a copy with a text for people, `PipelineError.customText`, for failures with this code.
    ///
    /// Of several texts for one code the last wins.
    public func addCustomError(_ code: PipelineError.Code, _ text: String) -> Self {
        options { $0.errorTexts.set(text, for: code) }
    }

    /// Returns a copy with a text for people, `PipelineError.customText`, for failures of this kind whose code has no text.
    ///
    /// Of several texts for one kind the last wins.
    public func addCustomError(_ kind: PipelineError.Code.Kind, _ text: String) -> Self {
        options { $0.errorTexts.set(text, for: kind) }
    }
}
