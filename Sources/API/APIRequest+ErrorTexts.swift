public import HTTPTypes
public import Pipeline

// Of the texts for one status, and of those for one code, the last wins.
extension APIRequest {
    /// A copy with a text for failures of this status, `PipelineError.customText`; it replaces one that was given before.
    public func addError(_ status: HTTPResponse.Status, _ text: String) -> Self { addError([status], text) }

    /// A copy with a text for failures of this code and its details; it replaces one that was given before.
    public func addError(_ code: PipelineError.Code, _ text: String) -> Self { addError([code], text) }

    /// A copy with one text for several statuses.
    ///
    /// ```swift
    /// request.addError([.notFound, .gone], "This post is not there any more")
    /// ```
    public func addError(_ statuses: [HTTPResponse.Status], _ text: String) -> Self {
        texts { texts in for status in statuses { texts.set(text, for: status) } }
    }

    /// A copy with one text for several codes and their details.
    public func addError(_ codes: [PipelineError.Code], _ text: String) -> Self {
        texts { texts in for code in codes { texts.set(text, for: code) } }
    }

    /// A copy with texts for several statuses, of which the last wins when one is there twice.
    ///
    /// ```swift
    /// request.addErrors([.notFound: "There is no such post", .conflict: "Somebody else has changed it"])
    /// ```
    public func addErrors(_ errors: KeyValuePairs<HTTPResponse.Status, String>) -> Self {
        errors.reduce(self) { $0.addError($1.key, $1.value) }
    }

    /// A copy with texts for several codes and their details, of which the last wins when one is there twice.
    public func addErrors(_ errors: KeyValuePairs<PipelineError.Code, String>) -> Self {
        errors.reduce(self) { $0.addError($1.key, $1.value) }
    }

    private func texts(_ change: (inout ErrorTexts) -> Void) -> Self { options { change(&$0.errorTexts) } }
}

extension APIRequest {
    /// The same as ``addError(_:_:)-(HTTPResponse.Status,_)``.
    public func addCustomError(_ status: HTTPResponse.Status, _ text: String) -> Self { addError(status, text) }

    /// The same as ``addError(_:_:)-(PipelineError.Code,_)``.
    public func addCustomError(_ code: PipelineError.Code, _ text: String) -> Self { addError(code, text) }

    /// The same as ``addError(_:_:)-([HTTPResponse.Status],_)``.
    public func addCustomError(_ statuses: [HTTPResponse.Status], _ text: String) -> Self { addError(statuses, text) }

    /// The same as ``addError(_:_:)-([PipelineError.Code],_)``.
    public func addCustomError(_ codes: [PipelineError.Code], _ text: String) -> Self { addError(codes, text) }

    /// The same as `addErrors(_:)` with statuses.
    public func addCustomErrors(_ errors: KeyValuePairs<HTTPResponse.Status, String>) -> Self { addErrors(errors) }

    /// The same as `addErrors(_:)` with codes.
    public func addCustomErrors(_ errors: KeyValuePairs<PipelineError.Code, String>) -> Self { addErrors(errors) }
}
