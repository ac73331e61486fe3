import Foundation
import HTTPTypes

/// All of an ``APIRequest`` but the type of its answer.
struct APIRequestParts: Sendable {
    var path: String
    /// Whether one of its several parts, which is often data, says nothing.
    private let hasEmptyPart: Bool
    /// What stands after the question mark of the endpoint.
    var rawQuery: String?
    var server: ServerURL?
    /// The method that was named; `nil` for the default.
    var namedMethod: HTTPMethod?
    var method: HTTPMethod { namedMethod ?? (payload == nil ? .get : .post) }
    var headers: [String: String] = [:]
    var query: (any Encodable & Sendable)?
    var payload: (any APIPayload)?
    /// Replaces the payload.
    var task: RequestTask?
    /// What the payload was made into, `nil` before a call has begun.
    private var payloadTask: Result<RequestTask?, any Error>?
    /// What was added to a form with files.
    var formParts: [MultipartFormBodyPart] = []
    var credential: APICredential?
    var authorizationType: AuthorizationType?
    var statusCodes = [200]
    var sampleData = Data()
    var options = RequestOptions()
    var coders = APICoders()
    var dateEncoding: DateCodingStrategy?
    var dateDecoding: DateCodingStrategy?

    init(endpoint: [String], payload: (any APIPayload)?) {
        let text = URLText.joining(endpoint)
        self.payload = payload
        hasEmptyPart = endpoint.dropFirst().contains { $0.allSatisfy { $0 == "/" } }
        // Of several parts one is often data, in which a question mark is one of the path.
        guard endpoint.count == 1, let mark = text.firstIndex(of: "?") else {
            path = text
            return
        }
        path = String(text[..<mark])
        rawQuery = String(text[text.index(after: mark)...])
    }

    /// Why the path may not be asked for, `nil` when it may.
    var refusedPath: String? {
        if hasEmptyPart { return "a part of the endpoint is empty" }
        let hasDots = path.split(separator: "/").contains { segment in
            guard segment.first == "." || segment.first == "%" else { return false }
            return [".", ".."].contains(segment.lowercased().replacing("%2e", with: "."))
        }
        return hasDots ? "a part of the endpoint is one dot or two, which leads elsewhere" : nil
    }

    /// The client's coders with the date strategies of this request.
    var ownCoders: APICoders {
        var own = coders
        if let dateEncoding { own.dateEncodingStrategy = dateEncoding }
        if let dateDecoding { own.dateDecodingStrategy = dateDecoding }
        return own
    }

    mutating func setHeader(_ name: String, _ value: String) {
        for existing in headers.keys where existing.lowercased() == name.lowercased() { headers[existing] = nil }
        headers[name] = value
    }

    // MARK: As a task

    /// Whether it is the request's body whose progress matters; of a payload that has not been made into a task it is not known.
    var isUpload: Bool { (try? task ?? payloadTask?.get())?.isUpload ?? false }

    /// The same, with the payload made into a task, which whoever encodes it or asks about it uses from then on.
    ///
    /// A failure is thrown when it is encoded, behind those that come before it.
    func withPayloadMade() -> APIRequestParts {
        var copy = self
        copy.task = task?.withPayloadMade()
        if task == nil { copy.payloadTask = Result { try makePayloadTask()?.withPayloadMade() } }
        return copy
    }

    /// Writes query, payload and credential into the request.
    func encode(into request: inout PipelineRequest, random: PipelineRandom, files: FileChecks) throws {
        if let rawQuery {
            var bytes: [UInt8] = []
            PercentEncoding.append(rawQuery.utf8, to: &bytes, allowed: .query, keepsEscapes: true)
            request.appendQuery(String(decoding: bytes, as: UTF8.self))
        }
        if let query {
            try RequestTask.requestQuery(query).encode(into: &request, random: random, coders: ownCoders)
        }
        let carried = try task ?? makePayloadTask()
        try carried?.adding(parts: formParts)
            .encode(into: &request, random: random, coders: ownCoders, files: files)
        if task == nil, !request.body.isNone { try request.requireBodyCarryingMethod() }
        try credential?.authorize(&request, allowsCleartext: server?.allowsCleartext ?? false)
    }

    private func makePayloadTask() throws -> RequestTask? {
        if let payloadTask { return try payloadTask.get() }
        do {
            return try payload?.makeTask(with: ownCoders)
        } catch let error as PipelineError {
            throw error
        } catch {
            throw PipelineError.encodingFailed(error, "the payload could not be made into a task")
        }
    }
}

extension RequestTask {
    /// The task with its payload made into what is sent: once, for that may be work, or give a stream that is read once.
    fileprivate func withPayloadMade() -> RequestTask {
        guard case .api(let parts) = content, parts.task != nil || parts.payload != nil else { return self }
        var copy = RequestTask(.api(parts.withPayloadMade()))
        copy.extraQuery = extraQuery
        return copy
    }
}

extension Endpoint {
    /// The endpoint with the payload of its task made into what is sent.
    func withPayloadMade() -> Endpoint { replacing(task: task.withPayloadMade()) }
}
