#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOHTTP2
import PipelineCore

/// A handler between codec and client, on an HTTP/1.1 connection or an HTTP/2 stream.
///
/// It reports the progress of the exchange that the channel carries, and stops messages and events that the client
/// would ignore or that would crash the process.
///
/// - AsyncHTTPClient ignores a status below 200 and treats what follows as a parser bug.
/// - It forgets its request at the end of a response, even if the request body is still being sent, and expects it to
///   be there for any later event on an HTTP/2 stream. A response may end that early, and the server may then reset the
///   stream (RFC 9113 §8.1, https://www.rfc-editor.org/rfc/rfc9113.html#section-8.1).
///
/// Used only on the event loop of its channel.
final class AsyncHTTPClientExchangeHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// The facts about a connection that its exchanges share.
    final class History {
        /// Whether the connection has begun to write a request.
        var hasCarriedRequest = false
        /// Whether a response has begun on the connection.
        var hasCarriedResponse = false
        /// The authority for which the server's certificate was found valid.
        var validAuthority: String?
    }

    /// The most bytes of header fields, whatever the limits of a call are.
    static let headerByteCount = 256 << 10

    /// Whether the channel is an HTTP/2 stream.
    let isStream: Bool
    let history: History
    /// The handler of the connection to which a stream belongs.
    private let parent: AsyncHTTPClientConnections.HTTP2Handler?
    private let informationalLimit: Int
    private var informationalCount = 0
    /// Whether further parts of the response are dropped.
    private var hasFailed = false
    /// Whether all further events of a stream are withheld from the client.
    private var isOver = false
    private var isSent = false

    // Progress; see the extension.

    /// The exchanges of the client; `nil` for a shared client.
    var exchanges: AsyncHTTPClientExchanges?
    /// Whether the certificate must be for the host of each request.
    var checksName = false
    /// Why the connection must carry nothing; `nil` if it may.
    var refusal: (any Error)?
    /// Not `nil` while the handler is in the pipeline.
    var timer: AsyncHTTPClientReadTimer?
    /// The try whose request was written last; `nil` once its response has begun.
    var awaited: AsyncHTTPClientTry?
    /// The try whose request is being written, if its phases are recorded.
    var writing: AsyncHTTPClientTry?
    /// The try whose request, without a body, is sent with the next flush.
    var flushing: AsyncHTTPClientTry?
    var hasBody = false
    /// What the connection does not change.
    var connection: PipelineExchange.Connection?
    /// The longest wait for the next bytes of the body; `nil` once the body has ended.
    var idleTimeout: TimeAmount?
    var hasHead = false

    // HTTP/1.1 only; used by the decoder.

    /// Whether a request was sent whose response has not ended.
    private(set) var awaitsResponse = false
    /// Whether a part of a response has come since the decoder last reset this.
    var hasPart = false
    private var isDelimitedByLength = false
    private var lastPiece: ByteBuffer?
    /// The end of a response, held until it is known whether more bytes follow.
    private var end: (context: ChannelHandlerContext, part: NIOAny)?

    init(informationalLimit: Int, isStream: Bool, of parent: AsyncHTTPClientConnections.HTTP2Handler? = nil) {
        self.informationalLimit = informationalLimit
        self.isStream = isStream
        self.parent = parent
        history = parent?.history ?? History()
    }

    func handlerAdded(context: ChannelHandlerContext) {
        timer = AsyncHTTPClientReadTimer(context.eventLoop) { self.fail($0, context) }
    }

    func handlerRemoved(context: ChannelHandlerContext) { timer.take()?.cancel() }

    /// Sets what the connection belongs to: the exchanges of the transport's own client, or those of any client.
    func serve(_ exchanges: AsyncHTTPClientExchanges?, checksName: Bool) {
        (self.exchanges, self.checksName) = (exchanges ?? self.exchanges, checksName)
    }

    private func fail(_ failure: any Error, _ context: ChannelHandlerContext) {
        hasFailed = true
        context.fireErrorCaught(failure)
        isOver = isStream
    }
}

// MARK: - Requests

extension AsyncHTTPClientExchangeHandler {
    func read(context: ChannelHandlerContext) {
        bytesAreAwaited()
        context.read()
    }

    func flush(context: ChannelHandlerContext) {
        context.flush()
        // Header fields alone fit into the buffer of a connection that waits for nothing, which spares a promise.
        flushing.take()?.requestIsSent()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var (part, promise) = (unwrapOutboundIn(data), promise)
        switch part {
        case .head(var head):
            checkName(for: head, on: context.channel)
            if refusal == nil {
                awaitsResponse = true
                begin(&head, on: context.channel)
                part = .head(head)
            }
        case .body:
            hasBody = true
        case .end:
            isSent = true
            noteEnd(&promise, on: context.eventLoop)
        }
        if let refusal {
            promise?.fail(refusal)
            return
        }
        history.hasCarriedRequest = true
        context.write(wrapOutboundOut(part), promise: promise)
    }
}

// MARK: - Responses

extension AsyncHTTPClientExchangeHandler {
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        hasPart = true
        guard !hasFailed, !isOver else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            responseBegan()
            headHasCome(head)
            history.hasCarriedResponse = true
            if let failure = failure(of: head) { return fail(failure, context) }
            isDelimitedByLength = head.headers.contains(name: "content-length")
        case .body(let piece):
            bytesHaveCome()
            if !isStream { lastPiece = piece }
        case .end(let trailers):
            responseEnded()
            if let failure = Self.failure(ofTrailers: trailers) { return fail(failure, context) }
            awaitsResponse = false
            guard isStream else {
                end = (context, data)
                return
            }
            guard isSent else {
                context.fireChannelRead(data)
                isOver = true
                return context.close(promise: nil)
            }
        }
        context.fireChannelRead(data)
    }

    /// Returns what is wrong with the next head, or `nil` if the client may see it.
    private func failure(of head: HTTPResponseHead) -> PipelineError? {
        switch head.status.code {
        case ..<100, 101:
            return PipelineError(.malformedResponse, "the status is \(head.status.code)")
        case ..<200:
            informationalCount += 1
            guard informationalCount > informationalLimit else { return nil }
            return PipelineError(
                .limit(.informational),
                "more than the \(informationalLimit) informational responses allowed"
            )
        default:
            informationalCount = 0
            return nil
        }
    }

    /// Returns what is wrong with the trailer fields of a response, or `nil` if they are valid.
    ///
    /// The default limit applies: the limits of the call are not known here, and AsyncHTTPClient does not pass on
    /// trailer fields.
    private static func failure(ofTrailers trailers: HTTPHeaders?) -> PipelineError? {
        let (count, limit) = (trailers?.count ?? 0, ProviderConfiguration.Limits().headerCount)
        guard count > limit else { return nil }
        return PipelineError(.limit(.headerCount), "\(count) trailer fields; limits.headerCount is \(limit)")
    }

    /// Reports a stream above the number of a GOAWAY as refused.
    ///
    /// NIOHTTP2 ends it with CANCEL. It passes the GOAWAY on before that, so a stream that the server itself has
    /// cancelled has ended before.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !isOver else { return }
        guard let closed = error as? NIOHTTP2Errors.StreamClosed, closed.errorCode == .cancel,
            let last = parent?.lastStream, closed.streamID > last
        else { return context.fireErrorCaught(error) }
        context.fireErrorCaught(NIOHTTP2Errors.streamClosed(streamID: closed.streamID, errorCode: .refusedStream))
    }

    /// Reports to a stream why its connection was closed.
    func channelInactive(context: ChannelHandlerContext) {
        guard !isOver else { return }
        if let failure = parent?.failure {
            context.fireErrorCaught(AsyncHTTPClientConnections.Failure(cause: failure))
        }
        context.fireChannelInactive()
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        if !isOver { context.fireChannelReadComplete() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        if !isOver { context.fireChannelWritabilityChanged() }
    }
}

// MARK: - The decoder of HTTP/1.1

extension AsyncHTTPClientExchangeHandler {
    /// Forwards the end of a response that ended within the bytes that were read.
    ///
    /// - Returns: `true` if no bytes follow the response; otherwise the connection is closed after it.
    func responseEnded(with bytes: ByteBuffer) -> Bool {
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
#endif
