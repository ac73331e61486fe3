public import Foundation

/// A port of 127.0.0.1 to which one can go on connecting for as long as one likes: nobody ever answers.
///
/// It listens, accepts nobody, and has filled the queue of those who wait with connections of its own.
///
/// ```swift
/// let hole = try LoopbackBlackHole()
/// let provider = Provider<Probe>(transport: transport)
/// // provider.request(…) to hole.url ends in timeout.connect
/// ```
///
/// Linux drops what a full queue cannot take; other systems may refuse it.
public final class LoopbackBlackHole: Sendable {
    private static let maximumConnectionCount = 64

    /// The port.
    public let port: Int
    private let listener: LoopbackSocket
    private let connections: [LoopbackSocket]

    /// Takes a port and fills its queue.
    ///
    /// - Throws: a `POSIXError` when there is no port, or when its queue does not become full.
    public init() throws {
        (listener, port) = try LoopbackSocket.listening(backlog: 0)
        var connections: [LoopbackSocket] = []
        do {
            repeat {
                guard connections.count < Self.maximumConnectionCount else { throw POSIXError(.EADDRNOTAVAIL) }
                connections.append(try LoopbackSocket.connecting(to: port))
                // On loopback a connection that is made at all is made within microseconds.
            } while connections.last?.isConnected(within: 100) == true
        } catch {
            for connection in connections { connection.close() }
            listener.close()
            throw error
        }
        self.connections = connections
    }

    deinit {
        for connection in connections { connection.close() }
        listener.close()
    }

    /// `http://127.0.0.1` with the port and without a path.
    public var url: URL { LoopbackServer.url(port: port) }
}
