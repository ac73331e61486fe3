import HTTPTypes

/// Parameters that their encoding writes into the query or the body.
struct ParametersContent: RequestContent {
    private(set) var own: RequestParameters
    let writer: any ParameterEncoding
    /// Whether the encoding must write a body, because the query holds other parameters.
    var isBody = false

    var kind: RequestTask.Kind { .parameters }
    var parameters: RequestParameters? { own }
    var encoding: (any ParameterEncoding)? { writer }

    func adding(parameters new: RequestParameters) -> ParametersContent? {
        var copy = self
        copy.own.merge(new) { own, _ in own }
        return copy
    }

    func encode(into request: inout PipelineRequest, context: RequestTask.EncodingContext) throws {
        guard isBody else { return try write(with: writer, into: &request) }
        try request.requireBodyCarryingMethod()
        let path = request.head.path
        var writer = writer
        if var form = writer as? URLEncoding, form.destination == .methodDependent {
            // These parameters belong in the body, even for DELETE.
            form.destination = .httpBody
            writer = form
        }
        let isQuery = (writer as? URLEncoding)?.destination == .queryString
        try write(with: writer, into: &request)
        guard isQuery || request.head.path != path else { return }
        throw PipelineError(
            .encoding,
            "\(type(of: writer)) writes the parameters of the body to the URL of a \(request.method)"
        )
    }

    private func write(with writer: any ParameterEncoding, into request: inout PipelineRequest) throws {
        try PipelineError.encoding("\(type(of: writer)) could not encode the parameters") {
            try writer.encode(own, into: &request)
        }
    }
}
