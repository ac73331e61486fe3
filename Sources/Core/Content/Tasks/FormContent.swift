/// A value encoded as pairs, in the query or in a form body.
struct FormContent: RequestContent {
    let value: any Encodable & Sendable
    /// The encoder; `nil` uses the context's.
    let encoder: URLFormEncoder?
    let destination: URLEncoding.Destination

    var kind: RequestTask.Kind { .form }

    func encode(into request: inout PipelineRequest, context: RequestTask.EncodingContext) throws {
        let encoder = encoder ?? context.makeFormEncoder(value)
        destination.put(try encoder.encode(value), into: &request)
    }
}
