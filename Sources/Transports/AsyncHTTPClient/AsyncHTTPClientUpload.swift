#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import Pipeline

/// A request in AsyncHTTPClient's terms, and the reading of its body while it is sent.
final class AsyncHTTPClientUpload: Sendable {
    /// A body in memory of at most so many bytes is handed over at once; of others, pieces of at most this size.
    static let pieceByteCount = 64 << 10

    private let request: PipelineRequest
    private let pipe: AsyncHTTPClientPipe?
    private let eventLoops: any EventLoopGroup
    let watch: AsyncHTTPClientWatch

    /// - Parameters:
    ///   - request: what is sent.
    ///   - context: told how much of a body in pieces has been sent.
    ///   - eventLoops: those that the client writes on.
    ///   - read: how long the server may give nothing.
    ///   - write: how long it may take nothing.
    init(
        _ request: PipelineRequest,
        _ context: PipelineContext,
        _ eventLoops: any EventLoopGroup,
        read: Duration?,
        write: Duration?
    ) {
        self.request = request
        self.eventLoops = eventLoops
        let isSmall = request.body.bytes.map { $0.count <= Self.pieceByteCount } ?? false
        pipe = isSmall ? nil : AsyncHTTPClientPipe(request.body, context)
        let hasIdleTimeout = (context.options.idleTimeout ?? request.idleTimeout) != nil
        watch = AsyncHTTPClientWatch(
            head: isSmall ? nil : read,
            idle: hasIdleTimeout ? nil : read,
            write: isSmall ? nil : write
        )
    }

    deinit { pipe?.end() }

    /// Whether the body goes out piece by piece, and not with the head.
    var isInPieces: Bool { pipe != nil }

    /// The answer has begun; a status of 300 or above ends the sending.
    func headHasCome(_ statusCode: Int, _ context: PipelineContext) {
        watch.headHasCome(endsUpload: statusCode >= 300)
        if pipe == nil, let byteCount = request.body.byteCount, byteCount > 0 { context.reportSent(byteCount) }
    }

    /// Stops reading a body that is no longer sent.
    func end() { pipe?.end() }

    func makeRequest() -> HTTPClientRequest {
        let head = request.head
        var converted = HTTPClientRequest(url: "\(head.scheme ?? "")://\(head.authority ?? "")\(head.path ?? "")")
        converted.method = HTTPMethod(rawValue: head.method.rawValue)
        converted.headers.reserveCapacity(head.headerFields.count + 2)
        for field in head.headerFields where !Self.isFraming(field.name) {
            converted.headers.add(name: field.name.rawName, value: field.value)
        }
        converted.body = makeBody()
        return converted
    }

    private func makeBody() -> HTTPClientRequest.Body? {
        if let pipe {
            let length = request.body.byteCount.map { HTTPClientRequest.Body.Length.known(Int64($0)) } ?? .unknown
            return .stream(Pieces(pipe: pipe, watch: watch, eventLoops: eventLoops), length: length)
        }
        guard !request.body.isNone, let bytes = request.body.bytes else { return nil }
        return .bytes(ByteBuffer(bytes: bytes))
    }

    private static func isFraming(_ name: HTTPField.Name) -> Bool {
        name == .contentLength || name == host
    }

    private static let host = HTTPField.Name("Host")
}

extension AsyncHTTPClientUpload {
    private struct Pieces: AsyncSequence, Sendable {
        let pipe: AsyncHTTPClientPipe
        let watch: AsyncHTTPClientWatch
        let eventLoops: any EventLoopGroup

        struct AsyncIterator: AsyncIteratorProtocol {
            let pipe: AsyncHTTPClientPipe
            let watch: AsyncHTTPClientWatch
            var pace: AsyncHTTPClientPace

            mutating func next() async throws -> ByteBuffer? {
                watch.isMakingPiece()
                guard let piece = try await pipe.next() else {
                    watch.isWaitingForHead()
                    return nil
                }
                let buffer = ByteBuffer(bytes: piece)
                await pace.add(buffer)
                watch.isWriting()
                return buffer
            }
        }

        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(pipe: pipe, watch: watch, pace: AsyncHTTPClientPace(eventLoops))
        }
    }
}
#endif
