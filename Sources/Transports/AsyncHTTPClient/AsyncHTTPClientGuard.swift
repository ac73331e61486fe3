#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import PipelineCore

/// A handler between parser and client on an HTTP/1.1 connection.
///
/// It stops messages that the client would ignore or that would crash the process.
///
/// Used only on the event loop of its connection.
final class AsyncHTTPClientGuard: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// The most bytes of header fields, whatever the limits of a call are.
    static let headerByteCount = 256 << 10

    var tracker = AsyncHTTPClientTracker()
    private var hasCarriedResponse = false
    private var heads: AsyncHTTPClientHeadCheck
    private var hasFailed = false
    /// Whether a request was sent whose response has not ended.
    private(set) var awaitsAnswer = false
    private var isDelimitedByLength = false
    private var lastPiece: ByteBuffer?
    /// The end of a response, held until it is known whether more bytes follow.
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

    func flush(context: ChannelHandlerContext) {
        context.flush()
        tracker.flushed()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var promise = promise
        let part = tracker.outbound(
            unwrapOutboundIn(data),
            on: context.channel,
            version: "1.1",
            isReused: hasCarriedResponse,
            hasResponded: hasCarriedResponse,
            &promise
        )
        if let part { context.write(wrapOutboundOut(part), promise: promise) }
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

    /// Forwards the end of a response that ended within the bytes that were read.
    ///
    /// - Returns: `true` if no bytes follow the response; otherwise the connection is closed after it.
    func answerEnded(with bytes: ByteBuffer) -> Bool {
        defer { lastPiece = nil }
        guard end != nil else { return true }
        let isLast =
            if isDelimitedByLength, let lastPiece {
                // The last piece is a view of the bytes that were read.
                Self.end(of: lastPiece) == Self.end(of: bytes)
            } else {
                bytes.withUnsafeReadableBytes { Self.emptyLine.suffix($0.count).elementsEqual($0.suffix(4)) }
            }
        forwardEnd(closing: !isLast)
        return isLast
    }

    /// Forwards the end of a response, if one is being held.
    func forwardEnd(closing: Bool) {
        guard let (context, part) = end.take() else { return }
        // AsyncHTTPClient treats an end that it has not asked for as the end of the connection and does not reuse it.
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
    /// Replaces the connection's parser with a guarded one.
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
