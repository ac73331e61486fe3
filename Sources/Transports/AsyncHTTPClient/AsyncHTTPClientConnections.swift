#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore

/// What a transport adds to the connections of a client of its own.
enum AsyncHTTPClientConnections {
    /// An error of a connection that had been made: the same reset is a failure of TLS within its handshake, and a lost connection
    /// after it.
    struct Failure: Error {
        let cause: any Error
    }

    private typealias Initializer = @Sendable (any Channel) -> EventLoopFuture<Void>

    /// Adds the handlers, after what the configuration does to connections already.
    static func prepare(_ configuration: inout HTTPClient.Configuration) {
        configuration.http1_1ConnectionDebugInitializer = after(configuration.http1_1ConnectionDebugInitializer) {
            try $0.addHandler(ResetMark(), position: .first)
        }
        configuration.http2ConnectionDebugInitializer = after(configuration.http2ConnectionDebugInitializer) {
            try $0.addHandler(ResetMark(), position: .first)
            try $0.addHandler(HTTP2End(), position: .last)
        }
        configuration.http2StreamChannelDebugInitializer = after(configuration.http2StreamChannelDebugInitializer) {
            try $0.addHandler(HTTP2StreamEnd(), position: .first)
        }
    }

    private static func after(
        _ initializer: Initializer?,
        _ addHandlers: @escaping @Sendable (ChannelPipeline.SynchronousOperations) throws -> Void
    ) -> Initializer {
        { channel in
            // AsyncHTTPClient calls on the event loop and expects no turn of it in between.
            let loop = channel.eventLoop
            let add = { @Sendable () -> EventLoopFuture<Void> in
                let body = { @Sendable () throws -> Void in try addHandlers(channel.pipeline.syncOperations) }
                return loop.inEventLoop ? loop.makeCompletedFuture(withResultOf: body) : loop.submit(body)
            }
            guard let initializer else { return add() }
            return initializer(channel).flatMap(add)
        }
    }
}

extension AsyncHTTPClientConnections {
    /// Marks the errors of the network.
    private final class ResetMark: ChannelInboundHandler {
        typealias InboundIn = NIOAny

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.fireErrorCaught(error is IOError ? Failure(cause: error) : error)
        }
    }

    /// Closes a connection of HTTP/2 on which NIO reads no more, for AsyncHTTPClient leaves it open and everybody on it waiting.
    private final class HTTP2End: ChannelInboundHandler {
        typealias InboundIn = NIOAny

        private(set) var failure: (any Error)?

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            if failure == nil, AsyncHTTPClientErrorMapping.endsHTTP2Connection(error) {
                failure = error
                context.close(promise: nil)
            }
            context.fireErrorCaught(error)
        }
    }

    /// Tells a stream why its connection was closed.
    private final class HTTP2StreamEnd: ChannelInboundHandler {
        typealias InboundIn = NIOAny

        func channelInactive(context: ChannelHandlerContext) {
            let connection = try? context.channel.parent?.pipeline.syncOperations.handler(type: HTTP2End.self)
            if let failure = connection?.failure { context.fireErrorCaught(Failure(cause: failure)) }
            context.fireChannelInactive()
        }
    }
}
#endif
