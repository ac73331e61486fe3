import HTTPTypes

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
        let made = try form.makeBody(using: &random, files: context.files)
        request.body = made.body
        request.headers[.contentType] = made.contentType
    }
}
