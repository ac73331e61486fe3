#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Pipeline

/// Stands between codec and client on a stream of HTTP/2, and stops what would stop the process.
///
/// AsyncHTTPClient forgets its request at the end of an answer, also of one that comes before the end of the body that is sent; whatever
/// happens to the stream after that, it asks for the request. An answer may come so early, and the server may then reset the stream.
///
/// Source: RFC 9113 §8.1, https://www.rfc-editor.org/rfc/rfc9113.html#section-8.1
final class AsyncHTTPClientStreamGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart
    private typealias HTTP2End = AsyncHTTPClientConnections.HTTP2End

    var tracker = AsyncHTTPClientTracker()
    private var heads: AsyncHTTPClientHeadCheck
    private var isSent = false
    /// Whether the client is to be told nothing more.
    private var isOver = false

    init(_ informationalLimit: Int) { heads = AsyncHTTPClientHeadCheck(informationalLimit: informationalLimit) }

    func handlerAdded(context: ChannelHandlerContext) {
        tracker.timer = AsyncHTTPClientReadTimer(context.eventLoop) { failure in
            context.fireErrorCaught(failure)
            self.isOver = true
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { tracker.end() }

    func read(context: ChannelHandlerContext) {
        tracker.bytesAreAwaited()
        context.read()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part = unwrapOutboundIn(data)
        if case .end = part { isSent = true }
        let tracked = tracker.outbound(part, isReused: HTTP2End.of(context.channel)?.hasCarriedResponse ?? false)
        context.write(wrapOutboundOut(tracked), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isOver else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            tracker.responseBegan()
            tracker.headHasCome(head)
            HTTP2End.of(context.channel)?.hasCarriedResponse = true
            if let failure = heads.failure(of: head) {
                context.fireErrorCaught(failure)
                isOver = true
                return
            }
        case .body:
            tracker.bytesHaveCome()
        case .end where !isSent:
            tracker.responseEnded()
            context.fireChannelRead(data)
            isOver = true
            context.close(promise: nil)
            return
        case .end:
            tracker.responseEnded()
        }
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if !isOver { context.fireErrorCaught(error) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if !isOver { context.fireChannelInactive() }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if !isOver { context.fireChannelReadComplete() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if !isOver { context.fireChannelWritabilityChanged() }
    }
}
#endif
