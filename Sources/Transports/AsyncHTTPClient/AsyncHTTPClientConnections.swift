#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL

/// The handlers that the transport adds to the connections of a client.
enum AsyncHTTPClientConnections {
    /// An error on an established connection.
    ///
    /// A reset without this mark is a TLS failure during the handshake; with it, the connection was lost.
    struct Failure: Error {
        let cause: any Error
    }

    private typealias Initializer = @Sendable (any Channel) -> EventLoopFuture<Void>
    private typealias Pipeline = ChannelPipeline.SynchronousOperations
    private typealias Handler = AsyncHTTPClientExchangeHandler

    /// Adds the handlers after those that the configuration already adds.
    ///
    /// Repeated calls add them only once. The first makes connections check that certificates are for the host; one
    /// for a client of the transport checks it if the configuration verifies host names.
    ///
    /// - Parameters:
    ///   - configuration: the configuration of a client that has not been created yet.
    ///   - informationalLimit: the most responses with a status of 100 to 199 before a response over HTTP/1.1.
    ///   - exchanges: the exchanges of the client, to which its connections report.
    ///   - pinCheck: the check of the server's key, before anything else uses the connection.
    static func prepare(
        _ configuration: inout HTTPClient.Configuration,
        informationalLimit: Int,
        _ exchanges: AsyncHTTPClientExchanges? = nil,
        _ pinCheck: AsyncHTTPClientPinCheck? = nil
    ) {
        let verification = configuration.tlsConfiguration?.certificateVerification ?? .fullVerification
        let checksName = verification == .fullVerification
        configuration.http1_1ConnectionDebugInitializer = after(configuration.http1_1ConnectionDebugInitializer) {
            try pinCheck?.check($0, on: $1)
            var installed: EventLoopFuture<Void>?
            if !$0.has(ResetMark.self) {
                try $0.addHandler(ResetMark(), position: .first)
                installed = try replaceParser(in: $0, informationalLimit)
            }
            try $0.handler(type: Handler.self).serve(exchanges, checksName: checksName)
            return installed
        }
        configuration.http2ConnectionDebugInitializer = after(configuration.http2ConnectionDebugInitializer) {
            try pinCheck?.check($0, on: $1)
            guard !$0.has(ResetMark.self) else { return nil }
            try $0.addHandler(ResetMark(), position: .first)
            try $0.addHandler(HTTP2Handler(), position: .last)
            return nil
        }
        configuration.http2StreamChannelDebugInitializer = after(configuration.http2StreamChannelDebugInitializer) {
            pipeline,
            stream in
            if !pipeline.has(Handler.self) {
                let codec = try pipeline.handler(type: HTTP2FramePayloadToHTTP1ClientCodec.self)
                let parent = try? stream.parent?.pipeline.syncOperations.handler(type: HTTP2Handler.self)
                let handler = Handler(informationalLimit: informationalLimit, isStream: true, of: parent)
                try pipeline.addHandler(handler, position: .after(codec))
            }
            try pipeline.handler(type: Handler.self).serve(exchanges, checksName: checksName)
            return nil
        }
    }

    /// Replaces the parser of an HTTP/1.1 connection with one that has the transport's limits.
    private static func replaceParser(in pipeline: Pipeline, _ informationalLimit: Int) throws -> EventLoopFuture<Void>
    {
        let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
        let handler = Handler(informationalLimit: informationalLimit, isStream: false)
        try pipeline.addHandler(handler, position: .after(parser))
        try pipeline.addHandler(ByteToMessageHandler(AsyncHTTPClientDecoder(handler)), position: .after(parser))
        return pipeline.removeHandler(parser)
    }

    private static func after(
        _ initializer: Initializer?,
        _ addHandlers: @escaping @Sendable (Pipeline, any Channel) throws -> EventLoopFuture<Void>?
    ) -> Initializer {
        { channel in
            // AsyncHTTPClient calls this on the event loop and relies on it completing within the same turn.
            let loop = channel.eventLoop
            let add = { @Sendable () -> EventLoopFuture<Void> in
                do {
                    return try addHandlers(channel.pipeline.syncOperations, channel) ?? loop.makeSucceededVoidFuture()
                } catch {
                    return loop.makeFailedFuture(error)
                }
            }
            let run = { @Sendable in loop.inEventLoop ? add() : loop.flatSubmit(add) }
            guard let initializer else { return run() }
            return initializer(channel).flatMap(run)
        }
    }
}

extension ChannelPipeline.SynchronousOperations {
    fileprivate func has<Handler: ChannelHandler>(_ type: Handler.Type) -> Bool {
        (try? handler(type: type)) != nil
    }
}

extension AsyncHTTPClientConnections {
    /// A handler that marks network errors on an established connection.
    private final class ResetMark: ChannelInboundHandler {
        typealias InboundIn = NIOAny

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            context.fireErrorCaught(error is IOError ? Failure(cause: error) : error)
        }
    }

    /// A handler that closes an HTTP/2 connection that NIO has given up; AsyncHTTPClient would leave it open and its
    /// streams waiting.
    ///
    /// It also notes which streams the server has not processed when it closes the connection.
    final class HTTP2Handler: ChannelInboundHandler {
        typealias InboundIn = HTTP2Frame

        /// What the streams of the connection share.
        let history = AsyncHTTPClientExchangeHandler.History()
        private(set) var failure: (any Error)?
        /// The last stream that the server may have processed, by its latest GOAWAY; `nil` before the first.
        private(set) var lastStream: HTTP2StreamID?
        private var streamCount = 0

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            if event is NIOHTTP2StreamCreatedEvent { streamCount += 1 }
            if event is StreamClosedEvent { streamCount -= 1 }
            context.fireUserInboundEventTriggered(event)
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            if case .goAway(let lastStream, _, _) = unwrapInboundIn(data).payload {
                self.lastStream = lastStream
                // AsyncHTTPClient closes the connection after its last stream, and never if it has none.
                if streamCount == 0 { context.close(promise: nil) }
            }
            context.fireChannelRead(data)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            if failure == nil, AsyncHTTPClientErrorMapping.endsHTTP2Connection(error) {
                failure = error
                context.close(promise: nil)
            }
            context.fireErrorCaught(error)
        }
    }
}
#endif
