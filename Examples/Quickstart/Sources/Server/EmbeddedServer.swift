import FlyingFox
import FlyingSocks
import Foundation

/// A server for all APIs on a free port of the loopback address.
///
/// It serves the API `https://NAME/PATH` at `http://127.0.0.1:PORT/NAME/PATH`.
struct EmbeddedServer {
    /// `http://127.0.0.1:PORT`, without a trailing slash.
    let origin: String

    private let server: HTTPServer
    private let running: Task<Void, any Error>

    /// Starts the server and waits until it listens.
    static func start() async throws -> EmbeddedServer {
        let server = HTTPServer(
            address: try sockaddr_in.inet(ip4: "127.0.0.1", port: 0),
            logger: .disabled
        )
        await BookshopServer.addRoutes(to: server)
        await WeatherServer.addRoutes(to: server)
        await ArchiveServer().addRoutes(to: server)
        await NewsServer().addRoutes(to: server)
        for host in ["dev.journal.example", "stage.journal.example", "journal.example"] {
            await JournalServer(host: host).addRoutes(to: server)
        }
        let running = Task { try await server.run() }
        try await server.waitUntilListening()
        guard case .ip4(_, let port) = await server.listeningAddress else {
            running.cancel()
            throw Unexpected("the server has no IPv4 address to listen on")
        }
        return EmbeddedServer(origin: "http://127.0.0.1:\(port)", server: server, running: running)
    }

    /// Closes the port and waits until the server has stopped.
    func stop() async {
        await server.stop()
        _ = await running.result
    }
}

extension HTTPResponse {
    /// Returns a response with a value as JSON.
    static func json(_ value: some Encodable, _ statusCode: HTTPStatusCode = .ok) throws -> HTTPResponse {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        return make(statusCode, [.contentType: "application/json"], body: try encoder.encode(value))
    }

    /// Returns a response with bytes in a content coding.
    static func bytes(_ data: Data, coding: String) -> HTTPResponse {
        let fields: [HTTPHeader: String] = [
            .contentType: "text/plain; charset=utf-8", .contentEncoding: coding,
            HTTPHeader("X-Sent-Bytes"): String(data.count),
        ]
        return make(.ok, fields, body: data)
    }

    /// Returns a response with bytes of a media type.
    static func bytes(_ data: Data, type: String) -> HTTPResponse {
        make(.ok, [.contentType: type], body: data)
    }

    /// Returns a response with a status but no body.
    static func empty(_ statusCode: HTTPStatusCode) -> HTTPResponse {
        make(statusCode, [:])
    }

    /// Returns a redirect to a location.
    static func redirect(to location: String) -> HTTPResponse {
        make(.found, [.location: location])
    }

    /// Returns a response that closes the connection.
    ///
    /// The server writes the head and the body separately, and on a kept-alive connection the second write waits 40 ms
    /// for the first.
    private static func make(
        _ statusCode: HTTPStatusCode,
        _ fields: [HTTPHeader: String],
        body: Data = Data()
    ) -> HTTPResponse {
        var headers = HTTPHeaders(fields)
        headers[.connection] = "close"
        return HTTPResponse(statusCode: statusCode, headers: headers, body: body)
    }

    /// Returns an error response with the reason as JSON.
    static func refusal(_ statusCode: HTTPStatusCode, _ reason: String) throws -> HTTPResponse {
        try json(["reason": reason], statusCode)
    }
}
