extension RequestTask {
    /// Returns a copy with more parts at the end of its form; a task without a form is returned unchanged.
    ///
    /// Use it in the `endpoint` closure of a provider:
    ///
    /// ```swift
    /// endpoint.replacing(task: endpoint.task.adding(parts: [MultipartFormBodyPart(.bytes(id), name: "device")]))
    /// ```
    public func adding(parts: [MultipartFormBodyPart]) -> RequestTask {
        content?.adding(parts: parts).map(replacing(content:)) ?? self
    }

    /// Creates a task that sends parts as a multipart form, as ``uploadMultipartFormData(_:)`` does.
    public static func uploadMultipart(_ parts: [MultipartFormBodyPart]) -> RequestTask {
        uploadMultipartFormData(MultipartFormData(parts: parts))
    }

    /// Creates a task that sends parts as a multipart form, and parameters in the query.
    ///
    /// It does the same as ``uploadCompositeMultipartFormData(_:urlParameters:)``.
    public static func uploadCompositeMultipart(
        _ parts: [MultipartFormBodyPart],
        urlParameters: RequestParameters
    ) -> RequestTask {
        uploadCompositeMultipartFormData(MultipartFormData(parts: parts), urlParameters: urlParameters)
    }
}
