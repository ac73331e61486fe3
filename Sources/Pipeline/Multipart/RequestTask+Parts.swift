extension RequestTask {
    /// A copy whose form has these parts too, after its own; a task that carries no form stays as it is.
    ///
    /// For the `endpoint` closure of a provider:
    ///
    /// ```swift
    /// endpoint.replacing(task: endpoint.task.adding(parts: [MultipartFormBodyPart(.bytes(id), name: "device")]))
    /// ```
    public func adding(parts: [MultipartFormBodyPart]) -> RequestTask {
        switch kind {
        case .multipart(var form, let urlParameters):
            form.parts += parts
            return .uploadCompositeMultipartFormData(form, urlParameters: urlParameters)
        case .api(var request):
            request.formParts += parts
            return RequestTask(kind: .api(request))
        default:
            return self
        }
    }
}
