import PipelineCore
import Synchronization

extension RequestTask.Kind {
    /// The content of an ``APIRequest``: its query, its payload or task, and its credential.
    static let api = Self("what an APIRequest carries")
}

/// The content of an ``APIRequest``: its query, its payload or task, and its credential.
final class APIRequestContent: RequestContent {
    let parts: APIRequestParts
    /// The parts added to a form with files.
    private let formParts: [MultipartFormBodyPart]
    /// The task that ``isUpload`` made from the payload, until it is encoded.
    ///
    /// Made once per call, because making it may be expensive or return a stream that can be read only once.
    private let made = Mutex<Result<RequestTask?, any Error>?>(nil)

    init(_ parts: APIRequestParts, formParts: [MultipartFormBodyPart] = []) {
        self.parts = parts
        self.formParts = formParts
    }

    var kind: RequestTask.Kind { .api }
    var parameters: RequestParameters? { parts.task?.parameters }
    var encoding: (any ParameterEncoding)? { parts.task?.encoding }
    var body: PipelineBody? { parts.task?.body }

    /// Makes the task, because only the payload knows its kind.
    ///
    /// ``encode(into:context:)`` throws the error if that fails.
    var isUpload: Bool {
        if let task = parts.task { return task.isUpload }
        let result = made.withLock { $0 } ?? Result { try makePayloadTask() }
        made.withLock { $0 = result }
        return (try? result.get())?.isUpload ?? false
    }

    func adding(parameters: RequestParameters) -> APIRequestContent? {
        guard let task = parts.task, task.parameters != nil else { return nil }
        var copy = parts
        copy.task = task.adding(parameters: parameters)
        return APIRequestContent(copy, formParts: formParts)
    }

    func adding(parts formParts: [MultipartFormBodyPart]) -> APIRequestContent? {
        APIRequestContent(parts, formParts: self.formParts + formParts)
    }

    func encode(into request: inout PipelineRequest, context: RequestTask.EncodingContext) throws {
        if let rawQuery = parts.rawQuery { request.appendQuery(PercentEncoding.query(rawQuery)) }
        var context = context
        if parts.query != nil || parts.task != nil || parts.payload != nil {
            let coders = parts.ownCoders
            context.makeJSONEncoder = { coders.jsonEncoder(for: $0) }
            context.makeFormEncoder = { coders.formEncoder(for: $0) }
        }
        if let query = parts.query { try RequestTask.requestQuery(query).encode(into: &request, context: context) }
        var carried = try parts.task ?? takePayloadTask()
        // If the payload is a request, it keeps the task that it made; a copy would not.
        if !formParts.isEmpty { carried = carried?.adding(parts: formParts) }
        try carried?.encode(into: &request, context: context)
        if parts.task == nil, !request.body.isAbsent { try request.requireBodyCarryingMethod() }
        try parts.credential?.authorize(&request, cleartext: parts.server?.cleartext ?? .loopbackOnly)
    }

    private func takePayloadTask() throws -> RequestTask? {
        let made = made.withLock { $0.take() }
        return try made?.get() ?? makePayloadTask()
    }

    private func makePayloadTask() throws -> RequestTask? {
        do {
            return try parts.payload?.makeTask(with: parts.ownCoders)
        } catch let error as PipelineError {
            throw error
        } catch {
            throw PipelineError.encodingFailed(error, "the payload could not be made into a task")
        }
    }
}
