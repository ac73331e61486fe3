#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import Pipeline

/// A request in AsyncHTTPClient's terms, and the reading of its body while it is sent.
struct AsyncHTTPClientUpload: Sendable {
    /// Ends with the last who holds it; the task that sends the body does not.
    private final class Reading: Sendable {
        let pipe: AsyncHTTPClientPipe

        init(_ body: PipelineBody) { pipe = AsyncHTTPClientPipe(body) }

        deinit { pipe.end() }
    }

    /// Pieces of this size make the progress of a body in memory visible.
    private static let pieceByteCount = 64 << 10

    private let body: PipelineBody
    private let reading: Reading?

    init(_ body: PipelineBody) {
        self.body = body
        reading = body.bytes == nil && body.fileURL == nil ? Reading(body) : nil
    }

    /// Stops reading a body that is no longer sent.
    func end() { reading?.pipe.end() }

    func makeRequest(_ head: HTTPRequest, _ context: PipelineContext) -> HTTPClientRequest {
        var converted = HTTPClientRequest(url: "\(head.scheme ?? "")://\(head.authority ?? "")\(head.path ?? "")")
        converted.method = HTTPMethod(rawValue: head.method.rawValue)
        converted.headers.reserveCapacity(head.headerFields.count)
        for field in head.headerFields where !Self.isFraming(field.name) {
            converted.headers.add(name: field.name.rawName, value: field.value)
        }
        converted.body = makeBody(context)
        return converted
    }

    private func makeBody(_ context: PipelineContext) -> HTTPClientRequest.Body? {
        if body.isNone { return nil }
        if let bytes = body.bytes, !context.wantsStream { return .bytes(ByteBuffer(bytes: bytes)) }
        let length = body.byteCount.map { HTTPClientRequest.Body.Length.known(Int64($0)) } ?? .unknown
        return .stream(Pieces(source: body, pipe: reading?.pipe, context: context), length: length)
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

        struct AsyncIterator: AsyncIteratorProtocol {
            let context: PipelineContext
            let pipe: AsyncHTTPClientPipe?
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
                return ByteBuffer(bytes: piece)
            }

            private mutating func nextChunk() async throws -> Data? {
                if let pipe { return try await pipe.next() }
                return try await chunks.next()
            }
        }

        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(context: context, pipe: pipe, chunks: source.chunks().makeAsyncIterator())
        }
    }
}
#endif
