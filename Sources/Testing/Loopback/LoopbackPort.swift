public import Foundation

/// A port of the loopback address 127.0.0.1 to which no connection succeeds.
///
/// The port belongs to this value until it is released.
///
/// ```swift
/// let port = try LoopbackPort.refusing()
/// let provider = Provider<Probe>(transport: transport)
/// // provider.request(…) to port.url fails with connect.refused
/// ```
public final class LoopbackPort: Sendable {
    private static let maximumConnectionCount = 64

    /// `http://127.0.0.1` with the port and without a path.
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

    /// Returns a port to which connecting takes forever, so that the attempt ends in `timeout.connect`.
    ///
    /// It listens without accepting, and its queue is filled with connections of its own. Linux drops what a full queue cannot
    /// take; other systems may refuse it.
    ///
    /// - Throws: a `POSIXError` if no port is free, or if the queue does not become full.
    public static func unresponsive() throws -> LoopbackPort {
        let (listener, port) = try LoopbackSocket.listening(backlog: 0)
        var sockets = [listener]
        do {
            repeat {
                guard sockets.count <= maximumConnectionCount else { throw POSIXError(.EADDRNOTAVAIL) }
                sockets.append(try LoopbackSocket.connecting(to: port))
                // On loopback a connection that is made at all is made within microseconds.
            } while sockets.last?.isConnected(within: 100) == true
        } catch {
            for socket in sockets.reversed() { socket.close() }
            throw error
        }
        return LoopbackPort(port, sockets)
    }
}
