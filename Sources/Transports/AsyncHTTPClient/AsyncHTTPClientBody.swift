#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import NIOCore
import PipelineCore

/// The body of a response.
///
/// Each piece must arrive in time; dropping the body, or its iterator, closes the exchange.
struct AsyncHTTPClientBody: AsyncSequence, Sendable {
    private let body: HTTPClientResponse.Body
    private let upload: AsyncHTTPClientUpload
    private let client: AsyncHTTPClientHandle

    /// The most memory that is reserved for an announced length.
    private static let reservedByteCount = 1 << 20

    init(_ body: HTTPClientResponse.Body, _ upload: AsyncHTTPClientUpload, _ client: AsyncHTTPClientHandle) {
        self.body = body
        self.upload = upload
        self.client = client
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let reader: Reader

        mutating func next() async throws -> Data? {
            try await reader.next()
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reader: Reader(self))
    }

    /// Reads the whole body, up to a limit.
    func collect(upTo limit: Int, announced: Int) async throws -> Data {
        guard announced <= limit else { throw Self.tooLarge(limit) }
        guard let timeouts = upload.timeouts else { return try await readAll(upTo: limit, announced: announced) }
        timeouts.isWaitingForBytes()
        return try await timeouts.run { try await readAll(upTo: limit, announced: announced) }
    }

    private func readAll(upTo limit: Int, announced: Int) async throws -> Data {
        var iterator = body.makeAsyncIterator()
        var data = Data()
        while let buffer = try await Self.next(&iterator, client) {
            guard buffer.readableBytes <= limit - data.count else { throw Self.tooLarge(limit) }
            if data.isEmpty, announced > buffer.readableBytes {
                data.reserveCapacity(Swift.min(announced, Self.reservedByteCount))
            }
            buffer.withUnsafeReadableBytes { bytes in
                if data.isEmpty, announced <= bytes.count { data = Data(bytes) } else { data.append(contentsOf: bytes) }
            }
            upload.timeouts?.isWaitingForBytes()
        }
        return data
    }

    private static func next(
        _ iterator: inout HTTPClientResponse.Body.AsyncIterator,
        _ client: AsyncHTTPClientHandle
    ) async throws -> ByteBuffer? {
        do {
            try Task.checkCancellation()
            return try await iterator.next(isolation: #isolation)
        } catch {
            throw AsyncHTTPClientErrorMapping.pipelineError(for: error, .body, of: client)
        }
    }

    private static func tooLarge(_ limit: Int) -> PipelineError {
        PipelineError(.limit(.bodyBytes), "the body is larger than the \(limit) bytes allowed")
    }
}

extension AsyncHTTPClientBody {
    /// A reader that runs in a task separate from the one that measures the time.
    fileprivate actor Reader {
        private var iterator: HTTPClientResponse.Body.AsyncIterator?
        private let upload: AsyncHTTPClientUpload
        /// Keeps the transport's own client alive while the body is being read.
        private let client: AsyncHTTPClientHandle

        init(_ body: AsyncHTTPClientBody) {
            iterator = body.body.makeAsyncIterator()
            upload = body.upload
            client = body.client
        }

        func next() async throws -> Data? {
            do {
                upload.timeouts?.isWaitingForBytes()
                let piece =
                    if let timeouts = upload.timeouts {
                        try await timeouts.run { try await self.read() }
                    } else {
                        try await read()
                    }
                if let piece { return piece }
                upload.end()
                return nil
            } catch {
                iterator = nil
                upload.end()
                throw error
            }
        }

        private func read() async throws -> Data? {
            guard var iterator else { return nil }
            guard let buffer = try await AsyncHTTPClientBody.next(&iterator, client) else { return nil }
            self.iterator = iterator
            return buffer.withUnsafeReadableBytes { Data($0) }
        }
    }
}
#endif
