import AsyncHTTPClient
import Foundation
import HTTPTypes
import OpenAPIAsyncHTTPClient
@_spi(Generated) import OpenAPIRuntime

private struct FieldMiddleware: ClientMiddleware {
    let field: HTTPField

    // Functions are concurrent by default in the protocol's module, but not in this one.
    @concurrent
    func intercept(
        _ request: HTTPRequest,
        body: HTTPBody?,
        baseURL: URL,
        operationID: String,
        next: @concurrent @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> (HTTPResponse, HTTPBody?)
    ) async throws -> (HTTPResponse, HTTPBody?) {
        var request = request
        request.headerFields[field.name] = field.value
        return try await next(request, body, baseURL)
    }
}

extension Peers {
    /// Returns sides that do what generated clients do, except for decoding a value.
    static func openAPISides(_ client: HTTPClient) -> [Side] {
        let transport = AsyncHTTPClientTransport(configuration: .init(client: client))
        return [
            side("OpenAPI, no middleware", transport, [], HTTPFields(fields)),
            side("OpenAPI, six middlewares", transport, fields.map(FieldMiddleware.init), [:]),
        ]
    }

    private static func side(
        _ name: String,
        _ transport: AsyncHTTPClientTransport,
        _ middlewares: [any ClientMiddleware],
        _ headers: HTTPFields
    ) -> Side {
        let client = UniversalClient(
            serverURL: URL(string: Nginx.url) ?? URL(filePath: "/"),
            transport: transport,
            middlewares: middlewares
        )
        return Side(name: name) { byteCount, task in
            let count = try await client.send(input: Nginx.path(byteCount, task), forOperation: "page") { path in
                (HTTPRequest(soar_path: path, method: .get, headerFields: headers), nil)
            } deserializer: { response, body in
                guard response.status == .ok, let body else { throw Side.WrongAnswer() }
                return try await Data(collecting: body, upTo: 64 << 20).count
            }
            try Side.require(count == byteCount)
        }
    }
}
