import Foundation
import Pipeline
import PipelineTesting
import Testing

/// The full request that an example produces.
struct ExampleRequest: Equatable {
    var line: String
    var fields: [String]
    var body: String

    /// - Parameters:
    ///   - line: method and URL.
    ///   - fields: all header fields, `name: value`.
    ///   - body: the body as text.
    init(_ line: String, _ fields: [String] = [], body: String = "") {
        self.line = line
        self.fields = fields
        self.body = body
    }

    /// Reads the request passed to a transport.
    init(_ request: PipelineRequest) async throws {
        let (scheme, authority, path) = (request.head.scheme, request.head.authority, request.head.path)
        self.init(
            "\(request.method) \(scheme ?? "")://\(authority ?? "")\(path ?? "")",
            request.headers.map { "\($0.name.rawName): \($0.value)" },
            body: String(decoding: try await request.body.collect(upTo: 1 << 20), as: UTF8.self)
        )
    }

    /// Reads the request received by a server in place of an origin, without the fields that Foundation adds.
    init(_ request: LoopbackServer.Request, origin: String) {
        let added = [
            "host", "accept", "accept-encoding", "accept-language", "user-agent", "connection", "content-length",
        ]
        self.init(
            "\(request.method) \(origin)\(request.target)",
            request.headerLines.filter { line in
                !added.contains(String(line.prefix { $0 != ":" }).lowercased())
            },
            body: String(decoding: request.body, as: UTF8.self)
        )
    }

    /// The part of the request that transports preserve: field names in lower case, sorted.
    var canonical: ExampleRequest {
        let fields = fields.map { field in
            let name = field.prefix { $0 != ":" }
            return name.lowercased() + field.dropFirst(name.count)
        }
        return ExampleRequest(line, fields.sorted(), body: body)
    }
}

/// Sends a target over a scripted transport and over HTTP, and compares what arrives there.
func expectRequest<Target: TargetType>(
    of target: Target,
    _ expected: ExampleRequest,
    endpoint: @escaping @Sendable (Target) throws -> Endpoint = { Endpoint($0) },
    sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let transport = ScriptedTransport(always: .status(200, body: "ok"))
    let scripted = try await Provider<Target>(transport: transport, endpoint: endpoint).request(target)
    #expect(scripted.statusCode == 200, sourceLocation: sourceLocation)
    #expect(transport.sent.count == 1, sourceLocation: sourceLocation)
    for request in transport.sent {
        let found = try await ExampleRequest(request)
        #expect(found == expected, sourceLocation: sourceLocation)
    }

    let server = try LoopbackServer { _ in [.respond(200, body: "ok")] }
    defer { server.stop() }
    let origin = target.baseURL.absoluteString
    let provider = Provider<Target>(transport: URLSessionTransport()) { target in
        var endpoint = try endpoint(target)
        #expect(endpoint.url.hasPrefix(origin + "/"), sourceLocation: sourceLocation)
        endpoint.url = server.url.absoluteString + endpoint.url.dropFirst(origin.count)
        return endpoint
    }
    let response = try await provider.request(target)
    #expect(response.statusCode == 200, sourceLocation: sourceLocation)
    let arrived = server.requests.map { ExampleRequest($0, origin: origin).canonical }
    #expect(arrived == [expected.canonical], sourceLocation: sourceLocation)
    for request in server.requests where !expected.body.isEmpty {
        #expect(request.values(of: "Content-Length") == ["\(expected.body.utf8.count)"], sourceLocation: sourceLocation)
    }
}

extension String {
    /// The percent-encoded string, as in Moya's guides.
    var urlEscaped: String {
        addingPercentEncoding(withAllowedCharacters: .urlHostAllowed) ?? ""
    }
}
