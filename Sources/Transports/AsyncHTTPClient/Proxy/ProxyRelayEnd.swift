#if AsyncHTTPClient
import Foundation
import NIOCore
import NIOPosix

/// One end of an open tunnel: passes what its connection receives on to the other end.
///
/// A connection is read only while the other one accepts bytes. The end of the proxy's connection ends that of
/// AsyncHTTPClient after the bytes that came before it; an error resets it, so that a cut is never mistaken for an end.
/// AsyncHTTPClient closes a connection only when nothing more is of interest, so that ends the proxy's at once.
final class ProxyRelayEnd: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var other: ProxyRelayEnd?
    private var context: ChannelHandlerContext?
    private var waitsToRead = false
    private var hasFailed = false
    /// Whether this is the connection to the proxy.
    private let isUpstream: Bool

    private init(isUpstream: Bool) {
        self.isUpstream = isUpstream
    }

    /// Joins the connection of AsyncHTTPClient and the one to the proxy, which have the same event loop.
    static func join(_ client: any Channel, _ upstream: any Channel) throws {
        let ends = (ProxyRelayEnd(isUpstream: false), ProxyRelayEnd(isUpstream: true))
        ends.0.other = ends.1
        ends.1.other = ends.0
        try client.pipeline.syncOperations.addHandler(ends.0)
        try upstream.pipeline.syncOperations.addHandler(ends.1)
        for channel in [client, upstream] { try channel.syncOptions?.setOption(.autoRead, value: false) }
        ends.0.read()
        ends.1.read()
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        other = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        other?.context?.write(data, promise: nil)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        other?.context?.flush()
        read()
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if context.channel.isWritable, other?.waitsToRead == true { other?.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        hasFailed = true
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        let other = other
        self.other = nil
        other?.end(isReset: hasFailed)
    }

    private func read() {
        guard let context, let peer = other?.context else { return }
        waitsToRead = !peer.channel.isWritable
        if !waitsToRead { context.read() }
    }

    private func end(isReset: Bool) {
        other = nil
        guard let context else { return }
        guard !isReset else {
            _ = (context.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            return context.close(promise: nil)
        }
        guard !isUpstream else { return context.close(promise: nil) }
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(ByteBuffer())).whenComplete { _ in channel.close(promise: nil) }
    }
}
#endif
