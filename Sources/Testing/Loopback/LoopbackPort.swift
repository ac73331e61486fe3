public import Foundation

/// A port of the loopback address 127.0.0.1 to which no connection succeeds.
///
/// No other process gets the port until this value is released.
///
/// ```swift
/// let port = try LoopbackPort.refusing()
/// let provider = Provider<Probe>(transport: transport)
/// // provider.request(…) to port.url fails with connect.refused
/// ```
public final class LoopbackPort: Sendable {
    private static let maximumConnectionCount = 64

    /// The URL `http://127.0.0.1` with the port and without a path.
    public let url: URL

    private let sockets: [LoopbackSocket]

    private init(_ port: Int, _ sockets: [LoopbackSocket]) {
        url = LoopbackServer.url(port: port)
        self.sockets = sockets
    }

    deinit {
        for socket in sockets.reversed() { socket.close() }
    }

    /// Returns a port that refuses every connection.
    ///
    /// - Throws: a `POSIXError` if no port is free.
    public static func refusing() throws -> LoopbackPort {
        let (socket, port) = try LoopbackSocket.bound()
        return LoopbackPort(port, [socket])
    }

    /// Returns a port to which no connection attempt ever completes, so the attempt fails with `timeout.connect`.
    ///
    /// The port listens without accepting, and its queue is full of its own connections. Linux drops connection
    /// attempts for which the queue has no room; other systems may refuse them.
    ///
    /// - Throws: a `POSIXError` if no port is free or if the queue does not become full.
    public static func unresponsive() throws -> LoopbackPort {
        let (listener, port) = try LoopbackSocket.listening(backlog: 0)
        var sockets = [listener]
        do {
            repeat {
                guard sockets.count <= maximumConnectionCount else { throw POSIXError(.EADDRNOTAVAIL) }
                sockets.append(try LoopbackSocket.connecting(to: port))
                // On loopback, a connection that succeeds does so within microseconds.
            } while sockets.last?.waitUntilReady(for: LoopbackSocket.writable, within: 100) == true
        } catch {
            for socket in sockets.reversed() { socket.close() }
            throw error
        }
        return LoopbackPort(port, sockets)
    }
}
