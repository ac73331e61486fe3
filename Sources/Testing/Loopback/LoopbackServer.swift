public import Foundation
import Synchronization

/// A small HTTP/1.1 server on 127.0.0.1 for fault tests; it responds with any bytes, valid or not.
///
/// Each connection has its own thread. A handler receives the request and returns a script; after the script, the
/// connection waits for its next request. A greeting is a script that runs before the first request is read. To test a
/// host to which no connection succeeds, use ``LoopbackPort``.
///
/// | fault | script |
/// |---|---|
/// | a response cut at any byte, by closing or resetting the connection | `[.send(part), .close]`, `[.send(part), .reset]` |
/// | a response that stalls at any byte | `[.send(part), .stall]` |
/// | a slow response, in real time or controlled by the test | `[.send(part), .wait(.seconds(1)), …]`, `[.send(part), .hold("rest"), …]` |
/// | a connection that closes before any byte is sent | `[.close]` for any request, or for the second one |
/// | a request body that is never read | the greeting `[.receive, .hold("never")]`, with a small `receiveBufferByteCount` |
/// | a response before the request body has been read | the greeting `[.receive, .respond(413), .hold("never")]` |
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
/// several at the same time.
///
/// **Errors**: the server responds with 400 to an invalid request, and with 413 to a request larger than
/// `requestByteCount`, 16 MiB by default. It then closes the connection.
public final class LoopbackServer: Sendable {
    /// A closure that returns the script for a request.
    public typealias Handler = @Sendable (Request) -> [Action]

    /// Counts of the events at the server so far.
    public struct Activity: Sendable {
        /// The number of connections that were accepted.
        public internal(set) var connectionCount = 0
        /// The number of connections that have not ended, including idle ones that the client keeps for its next
        /// request.
        public internal(set) var openConnectionCount = 0
        /// The number of requests that were read to their last byte.
        public internal(set) var requestCount = 0
        /// The number of times that a script has reached a `.hold`.
        public internal(set) var holdCount = 0
    }

    private let listener: LoopbackListener

    /// Starts a server on a free port.
    ///
    /// - Parameters:
    ///   - requestByteCount: the maximum size of a request, head and body, in bytes, 1 or more; defaults to 16 MiB.
    ///   - receiveBufferByteCount: the approximate size of the system's receive buffer in bytes, 1 or more; defaults to
    ///     `nil`, the system's choice.
    ///   - greeting: the script that every connection runs before its first request; defaults to none.
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

    /// The URL `http://127.0.0.1` with the port and without a path.
    public var url: URL { Self.url(port: port) }

    /// The requests that were read, in the order in which they were completed.
    public var requests: [Request] { listener.state.read { $0.requests } }

    /// The counts of events so far.
    public var activity: Activity { listener.state.read { $0.activity } }

    /// Waits until the counts satisfy a condition or the server is stopped.
    ///
    /// ```swift
    /// try await server.wait { $0.requestCount == 3 }
    /// ```
    ///
    /// - Throws: ``WaitTimeout`` after two minutes of real time; `CancellationError` as soon as the task is cancelled.
    public func wait(until isSatisfied: @escaping @Sendable (Activity) -> Bool) async throws {
        try await listener.state.wait {
            $0.isStopped || isSatisfied($0.activity)
        } orFailWith: {
            "a test waited in vain for events at a loopback server; there were \($0.activity)"
        }
    }

    /// Continues scripts that wait at a ``Action/hold(_:)`` with this name, now or later.
    public func release(_ name: String) {
        listener.state.update { _ = $0.released.insert(name) }
    }

    /// Closes all connections and waits for the threads to end.
    ///
    /// A handler must not call this method. A second call does nothing.
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
        /// The method as it was sent, for example `GET`.
        public let method: String
        /// The path and query, or whatever the request had in their place.
        public let target: String
        /// The lines of the header fields, without line endings.
        public let headerLines: [String]
        /// The body, without its transfer coding.
        public internal(set) var body = Data()

        /// Returns the values of a header field in order; names are compared case-insensitively.
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
        /// Returns whether the connection stays open.
        let perform: @Sendable (LoopbackSocket, WaitableValue<LoopbackListener.State>) -> Bool

        /// Closes the connection in an orderly way.
        public static let close = Action { _, _ in false }
        /// Closes the connection with a TCP reset.
        public static let reset = Action { connection, _ in
            connection.resetOnClose()
            return false
        }
        /// Sends nothing more until the client disconnects or the server stops.
        public static let stall = Action { connection, _ in
            while let bytes = connection.receive(), !bytes.isEmpty {}
            return false
        }

        /// Reads the next bytes that the client sends and discards them.
        public static let receive = Action { connection, _ in connection.receive()?.isEmpty == false }

        /// Sends the bytes to the client unchanged.
        public static func send(_ bytes: Data) -> Action { Action { connection, _ in connection.send(bytes) } }

        /// Sends a text to the client as UTF-8.
        public static func send(_ text: String) -> Action { .send(Data(text.utf8)) }

        /// Waits until ``LoopbackServer/release(_:)`` is called with the same name or the server stops.
        ///
        /// After three minutes of real time, the server says so on standard error, and closes the connection.
        public static func hold(_ name: String) -> Action {
            Action { _, state in
                state.update { $0.activity.holdCount += 1 }
                // Longer than the wait of a test, which can explain more.
                if state.block(within: .seconds(180), until: { $0.isStopped || $0.released.contains(name) }) {
                    return true
                }
                let reason = "no test released “\(name)” in three minutes, so the connection is closed"
                FileHandle.standardError.write(Data("LoopbackServer: \(reason)\n".utf8))
                return false
            }
        }

        /// Waits for a duration in real time or until the server stops; does not wait if the duration is zero or less.
        public static func wait(_ duration: Duration) -> Action {
            Action { _, state in !state.block(within: duration, until: { $0.isStopped }) }
        }

        /// Sends a response; includes Content-Length if the status allows it.
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

        /// Sends a response with a text body; includes Content-Length if the status allows it.
        public static func respond(
            _ status: Int,
            headers: [(name: String, value: String)] = [],
            body: String = ""
        ) -> Action {
            .respond(status, headers: headers, body: Data(body.utf8))
        }
    }
}
