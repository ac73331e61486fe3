import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// An HTTP/1.1 server on the loopback address, on SwiftNIO.
struct LoopbackServer {
    typealias Handler = @Sendable (IncomingRequest) async -> OutgoingResponse

    /// The most connections at a time; others wait in the system's queue.
    private static let connectionLimit = 256
    /// The longest that a connection may be silent; longer than the transport waits for an origin.
    private static let idleLimit = TimeAmount.seconds(90)

    /// `http://127.0.0.1:PORT`, without a trailing slash.
    let origin: String

    private let listener: NIOAsyncChannel<ServerConnection.Channel, Never>

    /// Starts to listen; 0 chooses a free port.
    static func start(port: Int) async throws -> LoopbackServer {
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .bind(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture { try makeConnection(channel) }
            }
        return LoopbackServer(
            origin: "http://127.0.0.1:\(listener.channel.localAddress?.port ?? port)",
            listener: listener
        )
    }

    private static func makeConnection(_ channel: any Channel) throws -> ServerConnection.Channel {
        // The connection frames its responses, because NIO would send a chunk after the response to HEAD.
        var encoding = HTTPResponseEncoder.Configuration()
        encoding.automaticallySetFramingHeaders = false
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandlers(IdleStateHandler(allTimeout: idleLimit), IdleCloser())
        try pipeline.configureHTTPServerPipeline(withEncoderConfiguration: encoding)
        return try ServerConnection.Channel(wrappingChannelSynchronously: channel)
    }

    /// Accepts connections until the task is cancelled.
    func run(handler: @escaping Handler) async throws {
        try await listener.executeThenClose { connections in
            try await withThrowingTaskGroup(of: Void.self) { group in
                var count = 0
                for try await channel in connections {
                    if count == Self.connectionLimit {
                        try await group.next()
                        count -= 1
                    }
                    count += 1
                    group.addTask { await ServerConnection(channel: channel, handler: handler).run() }
                }
            }
        }
    }
}

/// A channel handler that closes idle connections.
private final class IdleCloser: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is IdleStateHandler.IdleStateEvent {
            context.close(promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }
}
