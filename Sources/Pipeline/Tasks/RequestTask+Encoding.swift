import Foundation
import HTTPTypes

extension RequestTask {
    /// Writes what the task carries into the request.
    ///
    /// A random boundary comes from `random`, and encoders that the task has not from `coders`.
    func encode(
        into request: inout PipelineRequest,
        random: PipelineRandom,
        coders: APICoders? = nil,
        files: FileChecks = .immediate
    ) throws {
        try encodeContent(into: &request, random, coders, files)
        if !extraQuery.isEmpty { try URLEncoding.queryString.encode(extraQuery, into: &request) }
    }

    private func encodeContent(
        into request: inout PipelineRequest,
        _ random: PipelineRandom,
        _ coders: APICoders?,
        _ files: FileChecks
    ) throws {
        switch content {
        case .plain:
            break
        case .data(let data):
            request.body = .bytes(data)
        case .jsonEncodable(let value, let encoder):
            request.body = .bytes(try Self.json(value, encoder ?? coders?.jsonEncoder(for: value)))
            request.setContentTypeIfAbsent("application/json")
        case .form(let value, let encoder, let destination):
            let encoder = encoder ?? coders?.formEncoder(for: value) ?? URLFormEncoder()
            destination.put(try encoder.encode(value), into: &request)
        case .parameters(let parameters, let encoding):
            try encode(parameters, with: encoding, into: &request)
        case .composite(let data, let query):
            request.body = .bytes(data)
            try URLEncoding.queryString.encode(query, into: &request)
        case .compositeParameters(let parameters, let encoding, let query):
            try encodeBody(parameters, with: encoding, into: &request)
            try URLEncoding.queryString.encode(query, into: &request)
        case .file(let url):
            try request.requireBodyCarryingMethod()
            if files == .immediate { try PipelineBody.requireReadableFile(url) }
            request.body = .file(url)
        case .stream(let body):
            try request.requireBodyCarryingMethod()
            request.body = body
        case .download(let parameters, let encoding, _):
            if let encoding { try encode(parameters, with: encoding, into: &request) }
        case .multipart(let form, let urlParameters):
            try request.requireBodyCarryingMethod()
            try URLEncoding.queryString.encode(urlParameters, into: &request)
            var random = random
            try form.encode(into: &request, using: &random, files: files)
        case .api(let parts):
            try parts.encode(into: &request, random: random, files: files)
        }
    }

    /// Where the answer is put, `nil` when it is not a file.
    var destination: DownloadDestination? {
        switch content {
        case .download(_, _, let destination): destination
        case .api(let parts): parts.task?.destination
        default: nil
        }
    }

    /// Whether it is the request's body whose progress matters.
    var isUpload: Bool {
        switch content {
        case .file, .stream, .multipart: true
        case .api(let parts): parts.isUpload
        default: false
        }
    }

    private func encode(
        _ parameters: RequestParameters,
        with encoding: any ParameterEncoding,
        into request: inout PipelineRequest
    ) throws {
        do {
            try encoding.encode(parameters, into: &request)
        } catch let error as PipelineError {
            throw error
        } catch {
            throw PipelineError.encodingFailed(error, "\(type(of: encoding)) could not encode the parameters")
        }
    }

    private func encodeBody(
        _ parameters: RequestParameters,
        with encoding: any ParameterEncoding,
        into request: inout PipelineRequest
    ) throws {
        try request.requireBodyCarryingMethod()
        let path = request.head.path
        var encoding = encoding
        if var form = encoding as? URLEncoding, form.destination == .methodDependent {
            // These are the parameters of the body, also of a DELETE.
            form.destination = .httpBody
            encoding = form
        }
        let isQuery = (encoding as? URLEncoding)?.destination == .queryString
        try encode(parameters, with: encoding, into: &request)
        guard isQuery || request.head.path != path else { return }
        throw PipelineError(
            .encoding,
            "\(type(of: encoding)) writes the parameters of the body to the URL of a \(request.method)"
        )
    }
}

extension PipelineError {
    /// `.encoding`, naming the coding path at fault and never a value.
    static func encodingFailed(_ error: any Error, _ reason: String) -> PipelineError {
        var reason = reason
        if case EncodingError.invalidValue(_, let context) = error, !context.codingPath.isEmpty {
            reason += ", at " + context.codingPath.map(\.stringValue).joined(separator: ".").quotedExcerpt
        }
        return PipelineError(.encoding, reason, underlyingError: error)
    }
}
