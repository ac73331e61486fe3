/// A multipart form as content.
struct MultipartContent: RequestContent {
    private(set) var form: MultipartFormData

    var kind: RequestTask.Kind { .multipart }
    var isUpload: Bool { true }

    func adding(parts: [MultipartFormBodyPart]) -> MultipartContent? {
        var copy = self
        copy.form.parts += parts
        return copy
    }

    func encode(into request: inout PipelineRequest, context: RequestTask.EncodingContext) throws {
        try request.requireBodyCarryingMethod()
        var random = context.random
        try form.encode(into: &request, using: &random, files: context.files)
    }
}
