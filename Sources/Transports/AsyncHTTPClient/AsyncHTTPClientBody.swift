#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOCore
import Pipeline

/// The body of an answer; dropping it, or the iterator that reads it, closes the exchange.
struct AsyncHTTPClientBody: AsyncSequence, Sendable {
    private let body: HTTPClientResponse.Body
    private let upload: AsyncHTTPClientUpload
    private let client: AsyncHTTPClientLease

    /// The most that a body only announced takes up.
    private static let reservedByteCount = 1 << 20

    init(_ body: HTTPClientResponse.Body, _ upload: AsyncHTTPClientUpload, _ client: AsyncHTTPClientLease) {
        self.body = body
        self.upload = upload
        self.client = client
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        private var iterator: HTTPClientResponse.Body.AsyncIterator
        private let upload: AsyncHTTPClientUpload
        /// A client of the transport's own must not end while somebody reads.
        private let client: AsyncHTTPClientLease

        init(
            _ iterator: HTTPClientResponse.Body.AsyncIterator,
            _ upload: AsyncHTTPClientUpload,
            _ client: AsyncHTTPClientLease
        ) {
            self.iterator = iterator
            self.upload = upload
            self.client = client
        }

        mutating func next() async throws -> Data? {
            guard let buffer = try await nextBuffer() else { return nil }
            return buffer.withUnsafeReadableBytes { Data($0) }
        }

        mutating func nextBuffer() async throws -> ByteBuffer? {
            do {
                try Task.checkCancellation()
                return try await iterator.next(isolation: #isolation)
            } catch {
                upload.end()
                throw AsyncHTTPClientErrorMapping.pipelineError(for: error, .body)
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(body.makeAsyncIterator(), upload, client)
    }

    /// All bytes, under a limit.
    func collect(upTo limit: Int, of head: HTTPResponse) async throws -> Data {
        let announced = head.headerFields[.contentLength].flatMap { Int($0) } ?? 0
        guard announced <= limit else { throw Self.tooLarge(limit) }
        var iterator = makeAsyncIterator()
        var data = Data()
        while let buffer = try await iterator.nextBuffer() {
            guard buffer.readableBytes <= limit - data.count else { throw Self.tooLarge(limit) }
            if data.isEmpty, announced > buffer.readableBytes {
                data.reserveCapacity(Swift.min(announced, Self.reservedByteCount))
            }
            buffer.withUnsafeReadableBytes { bytes in
                if data.isEmpty, announced <= bytes.count { data = Data(bytes) } else { data.append(contentsOf: bytes) }
            }
        }
        return data
    }

    private static func tooLarge(_ limit: Int) -> PipelineError {
        PipelineError(.limit(.bodyBytes), "the body is larger than the \(limit) bytes allowed")
    }
}
#endif
