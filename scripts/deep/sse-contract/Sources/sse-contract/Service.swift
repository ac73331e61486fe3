import Foundation
import Pipeline
import PipelineTesting
import Synchronization

/// A test service for suites that follow the SSE contract-test protocol.
///
/// The suite opens subscriptions over HTTP, and the service posts the events they deliver to the suite's callback URL. The service
/// listens on a loopback port and prints its URL. The argument `AsyncHTTPClient` selects that transport instead of URLSession.
@main
struct Service {
    static func main() async throws {
        let isURLSession = !CommandLine.arguments.dropFirst().contains("AsyncHTTPClient")
        let (stopping, stop) = AsyncStream<Never>.makeStream()
        let streams = Streams(
            isURLSession
                ? [URLSessionTransport(), URLSessionTransport()]
                : [
                    AsyncHTTPClientTransport(), AsyncHTTPClientTransport(),
                ]
        )
        let server = try LoopbackServer { request in
            switch (request.method, request.target) {
            case ("GET", "/"): return [.respond(200, body: streams.description)]
            case ("POST", "/"):
                guard let order = try? JSONDecoder().decode(Order.self, from: request.body) else {
                    return [.respond(400)]
                }
                return [.respond(201, headers: [("Location", "/\(streams.open(order))")])]
            case ("POST", let path):
                guard let command = try? JSONDecoder().decode(Command.self, from: request.body) else {
                    return [.respond(400)]
                }
                guard command.command == "restart" else { return [.respond(400)] }
                return [.respond(streams.restart(path) ? 202 : 404)]
            case ("DELETE", "/"):
                stop.finish()
                return [.respond(204)]
            case ("DELETE", let path): return [.respond(streams.close(path) ? 204 : 404)]
            default: return [.respond(405)]
            }
        }
        print(server.url.absoluteString)
        fflush(nil)
        for await _ in stopping {}
        server.stop()
    }
}

/// A request from the suite to open a subscription.
private struct Order: Decodable {
    var streamUrl: URL
    var callbackUrl: URL
    var initialDelayMs: Int?
    var readTimeoutMs: Int?
    var lastEventId: String?
    var method: String?
    var headers: [String: String]?
    var body: String?
}

private struct Command: Decodable {
    var command: String
}

/// An event, comment, or error of a subscription, as posted to the suite.
private struct Message: Encodable {
    struct Event: Encodable {
        var type: String
        var data: String
        var id: String
    }

    var kind: String
    var event: Event?
    var comment: String?
    var error: String?
}

/// A target whose request the suite describes.
private struct Ask: TargetType {
    var baseURL: URL
    var path = ""
    var method = HTTPMethod.get
    var task = RequestTask.requestPlain
    var headers: [String: String]?
}

/// The open subscriptions.
private final class Streams: Sendable {
    private struct Stream {
        let subscription: ServerSentEvent.Subscription
        let reading: Task<Void, Never>
    }

    private struct State {
        var count = 0
        var open: [String: Stream] = [:]
    }

    private let state = Mutex(State())
    private let streams: Provider<Ask>
    /// Uses its own transport, because the streams may use all connections of theirs.
    private let callbacks: Provider<Ask>

    init(_ transports: [any Transport]) {
        streams = Provider(transport: transports[0])
        callbacks = Provider(transport: transports[1])
    }

    let description = #"""
        {"capabilities": ["bom", "comments", "headers", "last-event-id", "post", "read-timeout", "report", "restart", \#
        "server-directed-shutdown-request"]}
        """#

    func open(_ order: Order) -> Int {
        var target = Ask(baseURL: order.streamUrl, headers: order.headers)
        if let method = order.method.flatMap(HTTPRequest.Method.init(rawValue:)) { target.method = method }
        if let body = order.body { target.task = .requestData(Data(body.utf8)) }
        var options = RequestOptions()
        options.idleTimeout = order.readTimeoutMs.map { .milliseconds($0) }
        let subscription = streams.serverSentEvents(
            target,
            lastEventID: order.lastEventId ?? "",
            reconnection: ServerSentEvent.ReconnectionPolicy(reconnectionTime: .milliseconds(order.initialDelayMs ?? 3_000)),
            maximumByteCount: 64 << 20,
            options: options
        )
        let reading = Task { await self.read(subscription, to: order.callbackUrl) }
        return state.withLock { state in
            state.count += 1
            state.open["/\(state.count)"] = Stream(subscription: subscription, reading: reading)
            return state.count
        }
    }

    func restart(_ path: String) -> Bool {
        guard let stream = state.withLock({ $0.open[path] }) else { return false }
        stream.subscription.restart()
        return true
    }

    func close(_ path: String) -> Bool {
        guard let stream = state.withLock({ $0.open.removeValue(forKey: path) }) else { return false }
        stream.reading.cancel()
        return true
    }

    private func read(_ subscription: ServerSentEvent.Subscription, to url: URL) async {
        var count = 0
        do {
            for try await notice in subscription.notices {
                guard let message = Self.message(of: notice) else { continue }
                count += 1
                try await post(message, to: url.appending(path: "\(count)"))
            }
        } catch is CancellationError {
            return
        } catch {
            try? await post(Message(kind: "error", error: "\(error)"), to: url.appending(path: "\(count + 1)"))
        }
    }

    private static func message(of notice: ServerSentEvent.Subscription.Notice) -> Message? {
        if let event = notice.event {
            return Message(kind: "event", event: .init(type: event.type, data: event.data, id: event.id))
        }
        if let comment = notice.comment { return Message(kind: "comment", comment: comment) }
        return notice.reconnection?.error.map { Message(kind: "error", error: "\($0)") }
    }

    private func post(_ message: Message, to url: URL) async throws {
        let body = try JSONEncoder().encode(message)
        _ = try await callbacks.request(Ask(baseURL: url, method: .post, task: .requestData(body)))
    }
}
