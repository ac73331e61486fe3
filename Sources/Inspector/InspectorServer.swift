#if Tools
import FlyingFox
import FlyingSocks
import Foundation
import PipelineCore
import PipelineRecording
import Synchronization

extension InspectorPlugin.Output {
    /// A server on 127.0.0.1 that shows the calls while they run; ``InspectorPlugin/page()`` starts it.
    ///
    /// The address of the page contains a random token, without which the server responds with 404. It stops when the
    /// plugin is released. It requires the package trait `Tools`.
    ///
    /// - Parameter port: the port; 0 for a free one.
    /// - Returns: the output.
    public static func loopback(port: UInt16 = 0) -> InspectorPlugin.Output {
        InspectorPlugin.Output { InspectorServer(port: port, $0) }
    }
}

/// A server that shows a page and its changes.
final class InspectorServer: InspectorOutput {
    private struct Running {
        let start: Task<URL, any Error>
        let server: Task<Void, any Error>
    }

    private let port: UInt16
    private let calls: InspectedCalls
    private let running = Mutex<Running?>(nil)

    init(port: UInt16, _ calls: InspectedCalls) {
        self.port = port
        self.calls = calls
    }

    func page() async throws -> URL {
        let running = running.withLock { running in
            if let running { return running }
            let new = start()
            running = new
            return new
        }
        do {
            return try await running.start.value
        } catch {
            forget(running.start)
            throw error
        }
    }

    /// Forgets a server that does not run, so that the next page starts another one.
    private func forget(_ start: Task<URL, any Error>) {
        running.withLock { if $0?.start == start { $0 = nil } }
    }

    func end() { running.withLock { $0.take() }?.server.cancel() }

    private func start() -> Running {
        let token = Self.makeToken()
        let (events, listening) = AsyncThrowingStream.makeStream(of: UInt16.self)
        let server = Task { [port, calls] in
            do {
                let server = HTTPServer(
                    address: try .inet(ip4: "127.0.0.1", port: port),
                    logger: .disabled,
                    handler: Pages(token: token, calls: calls)
                )
                let waiting = Task {
                    try await server.waitUntilListening()
                    if case .ip4(_, let port) = await server.listeningAddress { listening.yield(port) }
                }
                defer { waiting.cancel() }
                try await server.run()
                listening.finish()
            } catch {
                listening.finish(throwing: error)
                throw error
            }
        }
        let start = Task { [port] in
            var underlying: (any Error)?
            do {
                var ports = events.makeAsyncIterator()
                if let port = try await ports.next(), let url = URL(string: "http://127.0.0.1:\(port)/\(token)/") {
                    return url
                }
            } catch {
                underlying = error
            }
            throw PipelineError(
                .recording(.notWritten),
                "the inspector cannot listen on port \(port) of 127.0.0.1; choose another port, or 0 for a free one",
                underlyingError: underlying
            )
        }
        // The system may close the socket of an app that is suspended.
        Task { [weak self] in
            _ = await server.result
            self?.forget(start)
        }
        return Running(start: start, server: server)
    }

    /// Returns 128 random bits.
    private static func makeToken() -> String {
        (0..<2).map { _ in
            let digits = String(UInt64.random(in: .min ... .max), radix: 36)
            return String(repeating: "0", count: 13 - digits.count) + digits
        }
        .joined()
    }
}

/// Responds to requests for the page and its changes.
private struct Pages: HTTPHandler {
    let token: String
    let calls: InspectedCalls

    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
        // Another name means that a page on the network has its name resolved to this machine.
        let host = request.headers[.host]?.prefix { $0 != ":" }
        guard request.method == .GET, host == "127.0.0.1" || host == "localhost" else { return respond(.notFound) }
        switch request.target.path() {
        case "/\(token)/":
            let page = InspectorPage.html(calls.document(isLive: true))
            return respond(.ok, page, [.contentType: "text/html; charset=utf-8"])
        case "/\(token)/data":
            let version = request.query.first { $0.name == "after" }.flatMap { Int($0.value) }
            return respond(.ok, calls.document(after: version, isLive: true), [.contentType: "application/json"])
        default: return respond(.notFound)
        }
    }

    private func respond(
        _ statusCode: HTTPStatusCode,
        _ body: Data = Data(),
        _ fields: [HTTPHeader: String] = [:]
    ) -> HTTPResponse {
        var headers = HTTPHeaders(fields)
        // The server writes the head and the body separately; on a kept-alive connection, the second waits for 40 ms.
        headers[.connection] = "close"
        headers[.cacheControl] = "no-store"
        headers[HTTPHeader("Content-Security-Policy")] = InspectorPage.policyField
        headers[HTTPHeader("Cross-Origin-Resource-Policy")] = "same-origin"
        headers[HTTPHeader("Referrer-Policy")] = "no-referrer"
        headers[HTTPHeader("X-Content-Type-Options")] = "nosniff"
        return HTTPResponse(statusCode: statusCode, headers: headers, body: body)
    }
}
#endif
