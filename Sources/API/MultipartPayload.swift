public import Pipeline

/// A payload that is sent as a form of several parts, `multipart/form-data`.
///
/// ```swift
/// struct NewPost: MultipartPayload {
///     let text: String
///     let images: [FormFile]
///     let video: FormFile?
/// }
/// ```
///
/// Its members become parts as `MultipartFormData.init(encoding:using:)` says.
///
/// **Errors**: those of that initializer and of `MultipartFormData`; nothing is sent then.
public protocol MultipartPayload: APIPayload {}

extension MultipartPayload {
    /// The value as a form of several parts.
    public func makeTask(with coders: PipelineCoders) throws -> RequestTask {
        .uploadMultipartFormData(try MultipartFormData(encoding: self, using: coders.formEncoder(for: self)))
    }
}
