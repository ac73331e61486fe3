import FlyingFox
import Foundation

/// The server side of the news agency. Each stream of headlines ends early, and the first download is cut off.
actor NewsServer {
    static let headlines = ["Rain is on its way", "The rain is here", "The sun comes out"]
    static let yearbook = Data((0..<60_000).map { UInt8(truncatingIfNeeded: $0 &* 17) })

    private static let version = "\"2026\""
    private var hasBrokenOff = false

    nonisolated func addRoutes(to server: HTTPServer) async {
        await server.appendRoute("GET /news.example/headlines") { request in
            Self.events(after: request.headers[HTTPHeader("Last-Event-ID")].flatMap { Int($0) } ?? 0)
        }
        await server.appendRoute("GET /news.example/yearbook") { [self] request in
            await yearbook(range: request.headers[.range])
        }
    }

    /// Returns up to two events, or 204 if the client already has them all.
    ///
    /// The status 204 ends the subscription.
    private static func events(after id: Int) -> HTTPResponse {
        let events = headlines.indices.dropFirst(id).prefix(2).map { index in
            "id: \(index + 1)\ndata: {\"text\": \"\(headlines[index])\"}\n\n"
        }
        guard !events.isEmpty else { return .empty(.noContent) }
        return .bytes(Data(("retry: 10\n\n" + events.joined()).utf8), type: "text/event-stream")
    }

    private func yearbook(range: String?) -> HTTPResponse {
        let all = Self.yearbook
        let start = range?.firstMatch(of: /^bytes=(\d+)-$/).flatMap { Int($0.1) } ?? 0
        guard start > 0, start < all.count else {
            let body = hasBrokenOff ? all : all.prefix(25_000)
            hasBrokenOff = true
            return Self.part(Data(body), .ok, [.contentLength: String(all.count)])
        }
        let fields = [HTTPHeader.contentRange: "bytes \(start)-\(all.count - 1)/\(all.count)"]
        return Self.part(Data(all[start...]), .partialContent, fields)
    }

    private static func part(
        _ body: Data,
        _ statusCode: HTTPStatusCode,
        _ fields: [HTTPHeader: String]
    ) -> HTTPResponse {
        let own: [HTTPHeader: String] = [
            .contentType: "application/octet-stream", .connection: "close", .eTag: version,
        ]
        let headers = HTTPHeaders(own.merging(fields) { $1 })
        return HTTPResponse(statusCode: statusCode, headers: headers, body: body)
    }
}
