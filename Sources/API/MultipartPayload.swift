public import PipelineCore

/// A payload that is sent as a multipart form, `multipart/form-data`.
///
/// ```swift
/// struct NewPost: MultipartPayload {
///     let text: String
///     let images: [FormFile]
///     let video: FormFile?
/// }
/// ```
///
/// `MultipartFormData.init(encoding:using:)` describes how its members become parts.
///
/// **Errors**: those of that initializer and of `MultipartFormData`; nothing is sent then.
public protocol MultipartPayload: APIPayload {}

extension MultipartPayload {
    /// Returns a task that carries the value as a multipart form.
    public func makeTask(with coders: PipelineCoders) throws -> RequestTask {
        .uploadMultipartFormData(try MultipartFormData(encoding: self, using: coders.formEncoder(for: self)))
    }
}
