#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import PipelineCore

/// A handler between codec and client on an HTTP/2 stream.
///
/// It stops events that would crash the process.
///
/// AsyncHTTPClient forgets its request at the end of a response, even if the request body is still being sent. It
/// expects the request to be there for any later event on the stream. A response may end that early, and the server may
/// then reset the stream.
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
    /// Whether all further events are withheld from the client.
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

    func flush(context: ChannelHandlerContext) {
        context.flush()
        tracker.flushed()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part = unwrapOutboundIn(data)
        if case .end = part { isSent = true }
        let connection = HTTP2End.of(context.channel)
        defer { connection?.hasCarriedRequest = true }
        var promise = promise
        let tracked = tracker.outbound(
            part,
            on: context.channel,
            version: "2",
            isReused: connection?.hasCarriedRequest ?? false,
            hasResponded: connection?.hasCarriedResponse ?? false,
            &promise
        )
        if let tracked { context.write(wrapOutboundOut(tracked), promise: promise) }
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
