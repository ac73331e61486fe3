import Foundation
import HTTPTypes
import PipelineCore

/// Everything in an ``APIRequest`` except the type of its result.
struct APIRequestParts: Sendable {
    var path: String
    /// Whether any part but the first is empty; such a part is often data.
    private let hasEmptyPart: Bool
    var pathTemplate: String?
    /// The text after the question mark of the endpoint.
    var rawQuery: String?
    var server: ServerURL?
    /// The method that was set; `nil` for the default.
    var namedMethod: HTTPRequest.Method?
    var method: HTTPRequest.Method { namedMethod ?? (payload == nil ? .get : .post) }
    var headers: [String: String] = [:]
    var query: (any Encodable & Sendable)?
    var payload: (any APIPayload)?
    /// If set, replaces the payload.
    var task: RequestTask?
    var credential: APICredential?
    var authorizationType: AuthorizationType?
    var validation = ValidationType.automatic
    var sampleData = Data()
    var options = RequestOptions()
    var coders = ProviderConfiguration.Coders()
    var dateEncoding: DateCodingStrategy?
    var dateDecoding: DateCodingStrategy?

    init(endpoint: [String], payload: (any APIPayload)?) {
        let text = URLText.joining(endpoint)
        self.payload = payload
        hasEmptyPart = endpoint.dropFirst().contains { $0.allSatisfy { $0 == "/" } }
        // One of several parts is often data, so a question mark in it belongs to the path.
        guard endpoint.count == 1, let mark = text.firstIndex(of: "?") else {
            path = text.replacing("?", with: "%3F")
            return
        }
        path = String(text[..<mark])
        rawQuery = String(text[text.index(after: mark)...])
    }

    /// The reason that the path must not be requested, `nil` if it may be.
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
    var ownCoders: ProviderConfiguration.Coders {
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
