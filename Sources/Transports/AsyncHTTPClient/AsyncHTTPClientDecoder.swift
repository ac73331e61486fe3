#if AsyncHTTPClient
import NIOCore
import NIOHTTP1
import PipelineCore

/// NIO's parser with the transport's own limits.
///
/// It also detects surplus bytes after a response, which would otherwise be parsed as the beginning of the next one.
/// The parser has no limit for a reason phrase and for chunk extensions, so this type counts the bytes that yield no
/// part of a response.
///
/// Source: RFC 9112 §6.3, https://www.rfc-editor.org/rfc/rfc9112.html#section-6.3
final class AsyncHTTPClientDecoder: WriteObservingByteToMessageDecoder {
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart

    private let parser: HTTPResponseDecoder
    private let handler: AsyncHTTPClientExchangeHandler
    /// The bytes since the last part of a response.
    private var partlessByteCount = 0
    /// Four times the bytes of header fields, because a field also has a colon and a line break.
    private static let partlessByteLimit = 4 * AsyncHTTPClientExchangeHandler.headerByteCount

    /// - Parameter handler: receives what the parser produces.
    init(_ handler: AsyncHTTPClientExchangeHandler) {
        var limits = NIOHTTPDecoderLimitConfiguration()
        // The pipeline counts the fields, under the limits of the call.
        limits.maxHeaderFieldCount = .max
        limits.maxHeaderFieldSize = AsyncHTTPClientExchangeHandler.headerByteCount
        limits.maxHeaderListSize = AsyncHTTPClientExchangeHandler.headerByteCount
        parser = HTTPResponseDecoder(informationalResponseStrategy: .forward, limitConfiguration: limits)
        self.handler = handler
    }

    func decoderAdded(context: ChannelHandlerContext) { parser.decoderAdded(context: context) }

    func decoderRemoved(context: ChannelHandlerContext) { parser.decoderRemoved(context: context) }

    func write(data: HTTPClientRequestPart) { parser.write(data: data) }

    func decode(context: ChannelHandlerContext, buffer: inout ByteBuffer) throws -> DecodingState {
        guard handler.awaitsResponse else { throw Self.surplus }
        handler.responseBegan()
        let bytes = buffer
        do {
            handler.hasPart = false
            let state = try parser.decode(context: context, buffer: &buffer)
            guard handler.responseEnded(with: bytes) else { throw Self.surplus }
            partlessByteCount = handler.hasPart ? 0 : partlessByteCount + bytes.readableBytes - buffer.readableBytes
            guard partlessByteCount <= Self.partlessByteLimit else { throw Self.overflow }
            handler.headIsIncomplete()
            return state
        } catch {
            handler.forwardEnd(closing: true)
            throw error
        }
    }

    func decodeLast(
        context: ChannelHandlerContext,
        buffer: inout ByteBuffer,
        seenEOF: Bool
    ) throws -> DecodingState {
        guard handler.awaitsResponse || buffer.readableBytes == 0 else { throw Self.surplus }
        defer { handler.forwardEnd(closing: true) }
        return try parser.decodeLast(context: context, buffer: &buffer, seenEOF: seenEOF)
    }

    private static let overflow = PipelineError(
        .limit(.headerBytes),
        "the server sent more than \(partlessByteLimit) bytes of a status line, header fields or a chunk's first line"
    )

    /// Fails the connection, and with it only a call that was assigned to it at the same moment.
    private static let surplus = PipelineError(.connectionLost, "the server sent bytes after the response")
}
#endif
