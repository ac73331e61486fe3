extension RequestTask {
    /// A copy whose form has these parts too, after its own; a task that carries no form stays as it is.
    ///
    /// For the `endpoint` closure of a provider:
    ///
    /// ```swift
    /// endpoint.replacing(task: endpoint.task.adding(parts: [MultipartFormBodyPart(.bytes(id), name: "device")]))
    /// ```
    public func adding(parts: [MultipartFormBodyPart]) -> RequestTask {
        content?.adding(parts: parts).map(replacing(content:)) ?? self
    }

    /// A form of the parts in an array, as ``uploadMultipartFormData(_:)``.
    public static func uploadMultipart(_ parts: [MultipartFormBodyPart]) -> RequestTask {
        uploadMultipartFormData(MultipartFormData(parts: parts))
    }

    /// A form of the parts in an array and parameters in the query, as ``uploadCompositeMultipartFormData(_:urlParameters:)``.
    public static func uploadCompositeMultipart(
        _ parts: [MultipartFormBodyPart],
        urlParameters: RequestParameters
    ) -> RequestTask {
        uploadCompositeMultipartFormData(MultipartFormData(parts: parts), urlParameters: urlParameters)
    }
}
