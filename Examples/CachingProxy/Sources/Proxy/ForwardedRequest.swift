import Foundation
import Pipeline

/// A target that is a client's request.
struct ForwardedRequest: TargetType {
    let baseURL: URL
    let path = ""
    let method: HTTPMethod
    let task = RequestTask.requestPlain
    // The client gets every response of the origin.
    let validationType = ValidationType.anyStatus
    /// The path with the query, as the client sent it.
    let pathAndQuery: String
    let fields: HTTPFields
    let body: PipelineBody

    /// The name of the proxy in Via, which need not be its host (RFC 9110 §7.6.3).
    private static let viaName = "pipeline-caching-proxy"

    init(_ request: IncomingRequest, origin: URL) {
        baseURL = origin
        method = request.head.method
        pathAndQuery = request.head.path ?? "/"
        body = request.hasBody ? .bytes(request.body) : .absent
        var fields = request.head.headerFields
        fields.removeHopByHopFields()
        // The transport frames the body, and the proxy has already asked the client to send it.
        fields[.contentLength] = nil
        fields[.expect] = nil
        fields.append(HTTPField(name: .via, value: "1.1 \(Self.viaName)"))
        // The origin gets its own name as Host. RFC 7239 has a field for the one that the client used.
        if let host = request.head.authority, !host.contains("\""), let forwarded = HTTPField.Name("Forwarded") {
            fields.append(HTTPField(name: forwarded, value: "host=\"\(host)\";proto=http"))
        }
        self.fields = fields
    }
}

/// A plugin that sends the request of a ``ForwardedRequest`` as it is.
///
/// A target has a dictionary of fields and a URL that is normalized. A proxy keeps repeated fields and the exact path.
struct ForwardPlugin: Stage.Prepare {
    func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        guard let target = context.target as? ForwardedRequest else { return }
        request.head.path = target.pathAndQuery
        request.headers = target.fields
        request.body = target.body
    }
}
