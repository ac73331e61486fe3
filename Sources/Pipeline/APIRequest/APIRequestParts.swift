import Foundation
import HTTPTypes

/// All of an ``APIRequest`` but the type of its answer.
struct APIRequestParts: Sendable {
    var path: String
    /// What stands after the question mark of the endpoint.
    var rawQuery: String?
    var server: ServerURL?
    var method = HTTPMethod.get
    var headers: [String: String] = [:]
    var query: (any Encodable & Sendable)?
    var payload: (any APIPayload)?
    /// Replaces the payload.
    var task: RequestTask?
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
        // Of several parts one is often data, in which a question mark is one of the path.
        guard endpoint.count == 1, let mark = text.firstIndex(of: "?") else {
            path = text
            return
        }
        path = String(text[..<mark])
        rawQuery = String(text[text.index(after: mark)...])
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

    /// Whether it is the request's body whose progress matters.
    var isUpload: Bool { task?.isUpload ?? (payload is any MultipartPayload) }

    /// Writes query, payload and credential into the request.
    func encode(into request: inout PipelineRequest, random: PipelineRandom) throws {
        if path.split(separator: "/").contains(where: Self.isParent) {
            throw PipelineError(.invalidRequest(.path), "the endpoint leads out of the server's path, with two dots")
        }
        if let rawQuery {
            var bytes: [UInt8] = []
            PercentEncoding.append(rawQuery.utf8, to: &bytes, allowed: .query, keepsEscapes: true)
            request.appendQuery(String(decoding: bytes, as: UTF8.self))
        }
        if let query {
            try RequestTask.requestQuery(query).encode(into: &request, random: random, coders: ownCoders)
        }
        let carried = try task ?? payloadTask()
        try carried?.adding(parts: formParts).encode(into: &request, random: random, coders: ownCoders)
        if task == nil, !request.body.isNone { try request.requireBodyCarryingMethod() }
        try credential?.authorize(&request, allowsCleartext: server?.allowsCleartext ?? false)
    }

    private static func isParent(_ segment: Substring) -> Bool {
        guard segment.first == "." || segment.first == "%" else { return false }
        return segment.lowercased().replacing("%2e", with: ".") == ".."
    }

    private func payloadTask() throws -> RequestTask? {
        do {
            return try payload?.makeTask(with: ownCoders)
        } catch let error as PipelineError {
            throw error
        } catch {
            throw PipelineError.encodingFailed(error, "the payload could not be made into a task")
        }
    }
}
