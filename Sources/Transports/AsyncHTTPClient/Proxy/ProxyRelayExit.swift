#if AsyncHTTPClient
import NIOCore
import NIOSSL
import NIOTLS
import PipelineCore

/// The handler of a connection from the relay to the proxy until the tunnel is open.
final class ProxyRelayExit: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var handshake: ProxyHandshake
    /// The proxy whose name its certificate must have; `nil` without TLS.
    private let secureHost: String?
    /// Whether TLS comes before the handshake with the proxy.
    private var awaitsTLS: Bool
    private var finish: ((Result<[UInt8], ProxyFault>) -> Void)?

    /// Calls `finish` once, with the first bytes of the tunnel or with the reason why it was not opened.
    ///
    /// - Parameters:
    ///   - handshake: the handshake with the proxy.
    ///   - secureHost: the name or address of a proxy that uses TLS; `nil` for another.
    ///   - finish: receives the result.
    init(
        _ handshake: ProxyHandshake,
        secureHost: String?,
        finish: @escaping (Result<[UInt8], ProxyFault>) -> Void
    ) {
        self.handshake = handshake
        self.secureHost = secureHost
        awaitsTLS = secureHost != nil
        self.finish = finish
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if !awaitsTLS { send(handshake.greeting, context) }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if awaitsTLS, case TLSUserEvent.handshakeCompleted? = event as? TLSUserEvent {
            if let secureHost, let fault = AsyncHTTPClientPeerName.fault(secureHost, on: context.channel) {
                return errorCaught(context: context, error: fault)
            }
            awaitsTLS = false
            send(handshake.greeting, context)
        }
        context.fireUserInboundEventTriggered(event)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard finish != nil else { return context.fireChannelRead(data) }
        switch handshake.receive(unwrapInboundIn(data).readableBytesView) {
        case .wait: break
        case .send(let bytes): send(bytes, context)
        case .open(let rest):
            end(.success(rest))
            context.pipeline.syncOperations.removeHandler(self, promise: nil)
        case .fail(let fault): end(.failure(fault))
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        end(.failure(awaitsTLS ? .connection(AsyncHTTPClientErrorMapping.code(of: error)) : .closed))
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(.failure(awaitsTLS ? .connection(.tls(.handshake)) : .closed))
        context.fireChannelInactive()
    }

    private func end(_ result: Result<[UInt8], ProxyFault>) {
        let finish = finish
        self.finish = nil
        finish?(result)
    }

    private func send(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)), promise: nil)
    }
}
#endif
