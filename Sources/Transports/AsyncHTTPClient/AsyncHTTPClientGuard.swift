#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Pipeline

/// Stands between parser and client on a connection with HTTP/1.1, and stops what the client would swallow or stop the process for.
///
/// Used on the event loop of its connection alone.
final class AsyncHTTPClientGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// The most bytes that header fields may have, whatever the limits of a call say.
    static let headerByteCount = 256 << 10

    var tracker = AsyncHTTPClientTracker()
    private var hasCarriedResponse = false
    private var heads: AsyncHTTPClientHeadCheck
    private var hasFailed = false
    /// Whether a request was sent whose answer has not ended.
    private(set) var awaitsAnswer = false
    private var isDelimitedByLength = false
    private var lastPiece: ByteBuffer?
    /// The end of an answer, kept back until it is known whether more follows.
    private var end: (context: ChannelHandlerContext, part: NIOAny)?

    private init(informationalLimit: Int) {
        heads = AsyncHTTPClientHeadCheck(informationalLimit: informationalLimit)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        tracker.timer = AsyncHTTPClientReadTimer(context.eventLoop) { failure in
            context.fireErrorCaught(failure)
            self.hasFailed = true
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) { tracker.end() }

    func read(context: ChannelHandlerContext) {
        tracker.bytesAreAwaited()
        context.read()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let part = tracker.outbound(unwrapOutboundIn(data), isReused: hasCarriedResponse)
        context.write(wrapOutboundOut(part), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasFailed else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            tracker.headHasCome(head)
            if let failure = heads.failure(of: head) {
                hasFailed = true
                context.fireErrorCaught(failure)
                return
            }
            isDelimitedByLength = head.headers.contains(name: "content-length")
        case .body(let piece):
            tracker.bytesHaveCome()
            lastPiece = piece
        case .end(let trailers):
            tracker.responseEnded()
            if let failure = AsyncHTTPClientHeadCheck.failure(ofTrailers: trailers) {
                hasFailed = true
                context.fireErrorCaught(failure)
                return
            }
            awaitsAnswer = false
            hasCarriedResponse = true
            end = (context, data)
            return
        }
        context.fireChannelRead(data)
    }
}

// MARK: - The decoder's side

extension AsyncHTTPClientGuard {
    func requestBegan() {
        awaitsAnswer = true
    }

    /// Hands over the end of an answer that ended with the bytes that were read.
    ///
    /// - Returns: whether it did; where it ended within them, the connection is closed behind it.
    func answerEnded(with bytes: ByteBuffer) -> Bool {
        defer { lastPiece = nil }
        guard end != nil else { return true }
        let isLast =
            if isDelimitedByLength, let lastPiece {
                // A view of the bytes that were read.
                Self.end(of: lastPiece) == Self.end(of: bytes)
            } else {
                bytes.withUnsafeReadableBytes { Self.emptyLine.suffix($0.count).elementsEqual($0.suffix(4)) }
            }
        forwardEnd(closing: !isLast)
        return isLast
    }

    /// Hands over the end of an answer, if one was kept back.
    func forwardEnd(closing: Bool) {
        guard let (context, part) = end.take() else { return }
        // To AsyncHTTPClient an end that nobody has asked for is that of the connection: it does not use it again.
        if closing { context.fireChannelReadComplete() }
        context.fireChannelRead(part)
    }

    private static let emptyLine = Array("\r\n\r\n".utf8)

    private static func end(of bytes: ByteBuffer) -> UnsafeRawPointer? {
        bytes.withUnsafeReadableBytes { bytes in bytes.baseAddress.map { UnsafeRawPointer($0 + bytes.count) } }
    }
}

// MARK: - Installation

extension AsyncHTTPClientGuard {
    /// Puts a guard behind a parser of its own, in the place of the connection's.
    static func install(
        in pipeline: ChannelPipeline.SynchronousOperations,
        _ informationalLimit: Int
    ) throws -> EventLoopFuture<Void> {
        let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
        let watcher = AsyncHTTPClientGuard(informationalLimit: informationalLimit)
        try pipeline.addHandler(watcher, position: .after(parser))
        try pipeline.addHandler(ByteToMessageHandler(AsyncHTTPClientDecoder(watcher)), position: .after(parser))
        return pipeline.removeHandler(parser)
    }
}
#endif
