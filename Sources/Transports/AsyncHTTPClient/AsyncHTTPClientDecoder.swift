#if AsyncHTTPClient
import NIOCore
import NIOHTTP1
import PipelineCore

/// NIO's parser with the transport's own limits.
///
/// It also detects surplus bytes after a response, which would otherwise be parsed as the beginning of the next one.
///
/// Source: RFC 9112 §6.3, https://www.rfc-editor.org/rfc/rfc9112.html#section-6.3
final class AsyncHTTPClientDecoder: WriteObservingByteToMessageDecoder {
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart

    private let parser: HTTPResponseDecoder
    private let watcher: AsyncHTTPClientGuard

    /// - Parameter watcher: receives what the parser produces.
    init(_ watcher: AsyncHTTPClientGuard) {
        var limits = NIOHTTPDecoderLimitConfiguration()
        // The pipeline counts the fields, under the limits of the call.
        limits.maxHeaderFieldCount = .max
        limits.maxHeaderFieldSize = AsyncHTTPClientGuard.headerByteCount
        limits.maxHeaderListSize = AsyncHTTPClientGuard.headerByteCount
        parser = HTTPResponseDecoder(informationalResponseStrategy: .forward, limitConfiguration: limits)
        self.watcher = watcher
    }

    func decoderAdded(context: ChannelHandlerContext) { parser.decoderAdded(context: context) }

    func decoderRemoved(context: ChannelHandlerContext) { parser.decoderRemoved(context: context) }

    func write(data: HTTPClientRequestPart) {
        if case .head = data { watcher.requestBegan() }
        parser.write(data: data)
    }

    func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        guard watcher.awaitsAnswer else { throw Self.surplus }
        watcher.tracker.responseBegan()
        let bytes = buffer
        do {
            let state = try parser.decode(context: context, buffer: &buffer)
            guard watcher.answerEnded(with: bytes) else { throw Self.surplus }
            watcher.tracker.headIsIncomplete()
            return state
        } catch {
            watcher.forwardEnd(closing: true)
            throw error
        }
    }

    func decodeLast(
        context: ChannelHandlerContext,
        buffer: inout ByteBuffer,
        seenEOF: Bool
    ) throws -> DecodingState {
        guard watcher.awaitsAnswer || buffer.readableBytes == 0 else { throw Self.surplus }
        defer { watcher.forwardEnd(closing: true) }
        return try parser.decodeLast(context: context, buffer: &buffer, seenEOF: seenEOF)
    }

    /// Fails the connection, and with it only a call that was assigned to it at the same moment.
    private static let surplus = PipelineError(.connectionLost, "the server sent bytes after the response")
}
#endif
