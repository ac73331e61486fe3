import AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1

extension Peers {
    /// Returns sides that call the client directly, or with only the conversions that any HTTPTypes client needs.
    ///
    /// They are the lower bound.
    static func directSides(_ client: HTTPClient) -> [Side] {
        let authority = String(Nginx.url.dropFirst("http://".count))
        let headers = HTTPFields(fields)
        return [
            Side(name: "directly") { byteCount, task in
                var request = HTTPClientRequest(url: Nginx.url + Nginx.path(byteCount, task))
                for field in fields { request.headers.add(name: field.name.rawName, value: field.value) }
                let response = try await client.execute(request, deadline: .distantFuture)
                let body = try await response.body.collect(upTo: 64 << 20)
                try Side.require(response.status == .ok && body.readableBytes == byteCount)
            },
            Side(name: "conversions only") { byteCount, task in
                let request = HTTPRequest(
                    method: .get,
                    scheme: "http",
                    authority: authority,
                    path: Nginx.path(byteCount, task),
                    headerFields: headers
                )
                let (response, body) = try await convert(request, client)
                try Side.require(response.status == .ok && body.count == byteCount)
            },
        ]
    }

    private static func convert(_ request: HTTPRequest, _ client: HTTPClient) async throws -> (HTTPResponse, Data) {
        var message = HTTPClientRequest(
            url: "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
        )
        message.method = NIOHTTP1.HTTPMethod(rawValue: request.method.rawValue)
        for field in request.headerFields { message.headers.add(name: field.name.rawName, value: field.value) }
        let answer = try await client.execute(message, deadline: .distantFuture)
        let body = try await answer.body.collect(upTo: 64 << 20)
        var response = HTTPResponse(status: HTTPResponse.Status(code: Int(answer.status.code)))
        for (name, value) in answer.headers {
            guard let name = HTTPField.Name(name) else { continue }
            response.headerFields.append(HTTPField(name: name, value: value))
        }
        return (response, Data(body.readableBytesView))
    }
}
