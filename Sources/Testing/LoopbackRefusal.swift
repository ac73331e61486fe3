public import Foundation

/// A port of 127.0.0.1 on which nobody listens and that nobody else gets while this value lives.
public final class LoopbackRefusal: Sendable {
    /// The port.
    public let port: Int
    private let socket: LoopbackSocket

    /// Takes a port.
    ///
    /// - Throws: a `POSIXError` when there is none.
    public init() throws {
        (socket, port) = try LoopbackSocket.bound()
    }

    deinit { socket.close() }

    /// `http://127.0.0.1` with the port and without a path.
    public var url: URL { LoopbackServer.url(port: port) }
}
