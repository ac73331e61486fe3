#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import Pipeline

/// A request in AsyncHTTPClient's terms, and the reading of its body while it is sent.
final class AsyncHTTPClientUpload: Sendable {
    /// Pieces of this size make the progress of a body in memory visible.
    private static let pieceByteCount = 64 << 10

    private let request: PipelineRequest
    private let context: PipelineContext
    private let pipe: AsyncHTTPClientPipe?
    private let eventLoops: any EventLoopGroup

    /// - Parameters:
    ///   - request: what is sent.
    ///   - context: told how much of the body has been sent.
    ///   - eventLoops: those that the client writes on.
    init(_ request: PipelineRequest, _ context: PipelineContext, _ eventLoops: any EventLoopGroup) {
        self.request = request
        self.context = context
        self.eventLoops = eventLoops
        pipe = request.body.bytes == nil && request.body.fileURL == nil ? AsyncHTTPClientPipe(request.body) : nil
    }

    deinit { pipe?.end() }

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
        if request.body.isNone { return nil }
        if let bytes = request.body.bytes, !context.wantsStream { return .bytes(ByteBuffer(bytes: bytes)) }
        let length = request.body.byteCount.map { HTTPClientRequest.Body.Length.known(Int64($0)) } ?? .unknown
        let pieces = Pieces(source: request.body, pipe: pipe, context: context, eventLoops: eventLoops)
        return .stream(pieces, length: length)
    }

    private static func isFraming(_ name: HTTPField.Name) -> Bool {
        name == .contentLength || name == .transferEncoding || name == host
    }

    private static let host = HTTPField.Name("Host")
}

extension AsyncHTTPClientUpload {
    /// The body piece by piece; each piece that is asked for says that those before it have been taken.
    private struct Pieces: AsyncSequence, Sendable {
        let source: PipelineBody
        let pipe: AsyncHTTPClientPipe?
        let context: PipelineContext
        let eventLoops: any EventLoopGroup

        struct AsyncIterator: AsyncIteratorProtocol {
            let context: PipelineContext
            let pipe: AsyncHTTPClientPipe?
            var pace: AsyncHTTPClientPace
            var chunks: PipelineBody.Chunks.AsyncIterator
            var rest = Data()
            var byteCount = 0

            mutating func next() async throws -> ByteBuffer? {
                if byteCount > 0 { context.reportSent(byteCount) }
                while rest.isEmpty {
                    guard let chunk = try await nextChunk() else { return nil }
                    rest = chunk
                }
                let piece = rest.prefix(AsyncHTTPClientUpload.pieceByteCount)
                rest = rest.dropFirst(piece.count)
                byteCount += piece.count
                let buffer = ByteBuffer(bytes: piece)
                await pace.add(buffer)
                return buffer
            }

            private mutating func nextChunk() async throws -> Data? {
                if let pipe { return try await pipe.next() }
                return try await chunks.next()
            }
        }

        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(
                context: context,
                pipe: pipe,
                pace: AsyncHTTPClientPace(eventLoops),
                chunks: source.chunks().makeAsyncIterator()
            )
        }
    }
}
#endif
