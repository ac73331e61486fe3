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

    /// Returns a copy with a text for people, `PipelineError.customText`, for failures with this code and its details.
    ///
    /// Of several texts for one code the last wins; the text of a detail wins over that of its kind.
    public func addCustomError(_ code: PipelineError.Code, _ text: String) -> Self {
        options { $0.errorTexts.set(text, for: code) }
    }
}
