public import Foundation
import Synchronization

/// A fault server: a small HTTP/1.1 server on 127.0.0.1 that responds with the bytes of a test, valid or not.
///
/// Each connection has a thread of its own. A handler gets the request and returns a script; after the script, the connection
/// waits for its next request. A greeting is a script that runs before the first request is read. For hosts to which no
/// connection succeeds, use ``LoopbackPort``.
///
/// | fault | script |
/// |---|---|
/// | a response cut at any byte, by an end or by a reset | `[.send(part), .close]`, `[.send(part), .reset]` |
/// | a response that stalls at any byte | `[.send(part), .stall]` |
/// | a slow response, in real time or controlled by the test | `[.send(part), .wait(.seconds(1)), …]`, `[.send(part), .hold("rest"), …]` |
/// | a connection that ends before any byte | `[.close]` for any request, or for its second one |
/// | a body that is never read | the greeting `[.receive, .hold("never")]`, with a small `receiveBufferByteCount` |
/// | a response before the body has been read | the greeting `[.receive, .respond(413), .hold("never")]` |
/// | bytes that are not HTTP | `[.send("anything")]` |
///
/// ```swift
/// let server = try LoopbackServer { request in
///     request.target == "/lost" ? [.send("HTTP/1.1 200 OK\r\nContent-Le"), .reset] : [.respond(200, body: "hello")]
/// }
/// defer { server.stop() }
/// let url = server.url
/// ```
///
/// **Effects**: every request is kept in ``requests`` until the server is released. Handlers run on connection threads,
/// several at once.
///
/// **Errors**: the response to an invalid request is 400, to one that is larger than `requestByteCount`, 16 MiB by default, 413; then the
/// connection is closed.
public final class LoopbackServer: Sendable {
    /// Returns the script for a request.
    public typealias Handler = @Sendable (Request) -> [Action]

    /// Counts of what has happened at the server so far.
    public struct Activity: Sendable {
        /// Connections accepted.
        public internal(set) var connectionCount = 0
        /// Connections that have not ended, also idle ones that the client keeps for its next request.
        public internal(set) var openConnectionCount = 0
        /// Requests read to their last byte.
        public internal(set) var requestCount = 0
        /// How often a script has reached a `.hold`.
        public internal(set) var holdCount = 0
    }

    private let listener: LoopbackListener

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - requestByteCount: the maximum size of a request, head and body, in bytes, 1 and up; defaults to 16 MiB.
    ///   - receiveBufferByteCount: the approximate size of the system's receive buffer in bytes, 1 and up; defaults to `nil`, the
    ///     system's choice.
    ///   - greeting: the script of every connection before its first request; defaults to none.
    ///   - handler: returns the script for each request.
    /// - Throws: a `POSIXError` if no socket can be opened.
    public init(
        requestByteCount: Int = 16 << 20,
        receiveBufferByteCount: Int? = nil,
        greeting: [Action] = [],
        handler: @escaping Handler
    ) throws {
        precondition(requestByteCount > 0, "requestByteCount is \(requestByteCount), not 1 or more")
        if let count = receiveBufferByteCount {
            precondition(count > 0, "receiveBufferByteCount is \(count), not 1 or more")
        }
        listener = try LoopbackListener(
            requestByteCount: requestByteCount,
            receiveBufferByteCount: receiveBufferByteCount,
            greeting: greeting,
            handler: handler
        )
    }

    deinit { listener.stop() }

    /// The port that the system chose.
    public var port: Int { listener.port }

    /// `http://127.0.0.1` with the port and without a path.
    public var url: URL { Self.url(port: port) }

    /// The requests that arrived, in the order in which their last bytes did.
    public var requests: [Request] { listener.board.requests }

    /// The counts so far.
    public var activity: Activity { listener.board.activity }

    /// Waits until the counts satisfy a condition, the server is stopped, or the task is cancelled, such as by a time limit.
    ///
    /// ```swift
    /// await server.wait { $0.requestCount == 3 }
    /// ```
    public func wait(until isSatisfied: @escaping @Sendable (Activity) -> Bool) async {
        await listener.board.wait(until: isSatisfied)
    }

    /// Continues scripts that wait at a ``Action/hold(_:)`` with this name, now or later.
    public func release(_ name: String) {
        listener.board.release(name)
    }

    /// Closes all connections and waits for the threads to end.
    ///
    /// A handler must not call it. Stopping twice does nothing.
    public func stop() {
        listener.stop()
    }
}

extension LoopbackServer {
    static func url(port: Int) -> URL {
        guard let url = URL(string: "http://127.0.0.1:\(port)") else { preconditionFailure("\(port) is not a port") }
        return url
    }

    /// A request that the server has read.
    public struct Request: Sendable {
        /// The method.
        public let method: String
        /// The path and query, or whatever was in their place.
        public let target: String
        /// The lines of the header fields, without line ends.
        public let headerLines: [String]
        /// The body, without its transfer coding.
        public let body: Data

        /// Returns the values of a header field in order; names are compared without case.
        public func values(of name: String) -> [String] {
            headerLines.compactMap { line in
                let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, parts[0].lowercased() == name.lowercased() else { return nil }
                return parts[1].trimmingCharacters(in: .whitespaces)
            }
        }
    }

    /// One step of a script.
    public struct Action: Sendable {
        enum Kind: Sendable {
            case send(Data)
            case receive
            case hold(String)
            case wait(Duration)
            case close
            case reset
            case stall
        }

        let kind: Kind

        /// Ends the connection.
        public static let close = Action(kind: .close)
        /// Ends the connection with a TCP reset.
        public static let reset = Action(kind: .reset)
        /// Sends nothing more until the client hangs up or the server stops.
        public static let stall = Action(kind: .stall)

        /// Takes the next bytes that the client sends, whatever they are, and forgets them.
        public static let receive = Action(kind: .receive)

        /// Sends bytes as they are.
        public static func send(_ bytes: Data) -> Action { Action(kind: .send(bytes)) }

        /// Sends text as UTF-8.
        public static func send(_ text: String) -> Action { .send(Data(text.utf8)) }

        /// Waits for ``LoopbackServer/release(_:)`` with the same name, or for the server to stop.
        public static func hold(_ name: String) -> Action { Action(kind: .hold(name)) }

        /// Waits for a real time, or for the server to stop; at once when the time is not more than zero.
        public static func wait(_ duration: Duration) -> Action { Action(kind: .wait(duration)) }

        /// Sends a response with a Content-Length, where the status allows one.
        public static func respond(
            _ status: Int,
            headers: [(name: String, value: String)] = [],
            body: Data
        ) -> Action {
            var text = "HTTP/1.1 \(status) Status\r\n"
            for (name, value) in headers { text += "\(name): \(value)\r\n" }
            if status >= 200, status != 204, status != 304 { text += "Content-Length: \(body.count)\r\n" }
            return .send(Data((text + "\r\n").utf8) + body)
        }

        /// Sends a response with a Content-Length, where the status allows one.
        public static func respond(
            _ status: Int,
            headers: [(name: String, value: String)] = [],
            body: String = ""
        ) -> Action {
            .respond(status, headers: headers, body: Data(body.utf8))
        }
    }
}
