import Foundation
import HTTPTypes
import Pipeline

/// All of an ``APIRequest`` but the type of its answer.
struct APIRequestParts: Sendable {
    var path: String
    /// Whether one of its several parts, which is often data, says nothing.
    private let hasEmptyPart: Bool
    /// What stands after the question mark of the endpoint.
    var rawQuery: String?
    var server: ServerURL?
    /// The method that was named; `nil` for the default.
    var namedMethod: HTTPRequest.Method?
    var method: HTTPRequest.Method { namedMethod ?? (payload == nil ? .get : .post) }
    var headers: [String: String] = [:]
    var query: (any Encodable & Sendable)?
    var payload: (any APIPayload)?
    /// Replaces the payload.
    var task: RequestTask?
    var credential: APICredential?
    var authorizationType: AuthorizationType?
    var validation = ValidationType.customCodes([200])
    var sampleData = Data()
    var options = RequestOptions()
    var coders = PipelineCoders()
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
    var refusal: PipelineError? {
        if hasEmptyPart { return PipelineError(.invalidRequest(.path), "a part of the endpoint is empty") }
        let hasDots = path.split(separator: "/").contains { segment in
            guard segment.first == "." || segment.first == "%" else { return false }
            return [".", ".."].contains(segment.lowercased().replacing("%2e", with: "."))
        }
        guard hasDots else { return nil }
        let reason = "a part of the endpoint is one dot or two, which leads elsewhere"
        return PipelineError(.invalidRequest(.path), reason)
    }

    /// The client's coders with the date strategies of this request.
    var ownCoders: PipelineCoders {
        var own = coders
        if let dateEncoding { own.dateEncodingStrategy = dateEncoding }
        if let dateDecoding { own.dateDecodingStrategy = dateDecoding }
        return own
    }

    mutating func setHeader(_ name: String, _ value: String) {
        for existing in headers.keys where existing.lowercased() == name.lowercased() { headers[existing] = nil }
        headers[name] = value
    }
}
