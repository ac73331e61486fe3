#if AsyncHTTPClient
import AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1
import PipelineCore

/// A request as AsyncHTTPClient's type, and the reading of its body while it is sent.
struct AsyncHTTPClientUpload: Sendable {
    /// A handle that ends the reading with its last reference; the task that sends the body holds none.
    private final class Reading: Sendable {
        let reader: AsyncHTTPClientUploadReader

        init(_ reader: AsyncHTTPClientUploadReader) { self.reader = reader }

        deinit { reader.end() }
    }

    /// A body in memory of at most this size is handed over at once; pieces of other bodies have at most this size.
    static let pieceByteCount = 64 << 10

    private let body: PipelineBody
    private let reading: Reading?
    private let eventLoops: any EventLoopGroup
    /// Limits the waits of the exchange; `nil` if its connection limits them or they are unlimited.
    let timeouts: AsyncHTTPClientTimeouts?

    /// - Parameters:
    ///   - body: the body to send.
    ///   - context: receives how much of a body in pieces has been sent.
    ///   - eventLoops: the event loops on which the client writes.
    ///   - timeouts: limits the waits of a body in pieces and of its response.
    init(
        _ body: PipelineBody,
        _ context: PipelineContext,
        _ eventLoops: any EventLoopGroup,
        _ timeouts: AsyncHTTPClientTimeouts?
    ) {
        self.body = body
        self.eventLoops = eventLoops
        self.timeouts = timeouts
        reading = Self.isInPieces(body) ? Reading(AsyncHTTPClientUploadReader(body, context)) : nil
    }

    /// Returns whether a body is sent in pieces instead of with the head.
    static func isInPieces(_ body: PipelineBody) -> Bool {
        body.bytes.map { $0.count > pieceByteCount } ?? true
    }

    /// Whether the body is sent in pieces instead of with the head.
    var isInPieces: Bool { reading != nil }

    /// Notes that the response has begun.
    ///
    /// A status of 300 or above ends the upload.
    func headHasCome(_ statusCode: Int, _ context: PipelineContext) {
        timeouts?.headHasCome(endsUpload: statusCode >= 300)
        if reading == nil, let bytes = body.bytes, !bytes.isEmpty { context.report(.sent(bytes.count)) }
    }

    /// Stops reading a body that is no longer sent.
    func end() { reading?.reader.end() }

    func makeRequest(_ head: HTTPRequest) -> HTTPClientRequest {
        var converted = HTTPClientRequest(url: Self.url(of: head))
        converted.method = HTTPMethod(rawValue: head.method.rawValue)
        // The extra field marks the exchange.
        converted.headers.reserveCapacity(head.headerFields.count + 1)
        for field in head.headerFields where !Self.isFraming(field.name) {
            // HTTP/1.1 allows one Cookie field only (RFC 6265 §5.4).
            if field.name == .cookie, let cookies = converted.headers.first(name: "cookie") {
                converted.headers.replaceOrAdd(name: field.name.rawName, value: cookies + "; " + field.value)
            } else {
                converted.headers.add(name: field.name.rawName, value: field.value)
            }
        }
        converted.body = makeBody()
        return converted
    }

    /// Reserves capacity once; an interpolation would grow the string twice.
    private static func url(of head: HTTPRequest) -> String {
        let (scheme, authority, path) = (head.scheme ?? "", head.authority ?? "", head.path ?? "")
        var url = ""
        url.reserveCapacity(scheme.utf8.count + 3 + authority.utf8.count + path.utf8.count)
        url += scheme
        url += "://"
        url += authority
        url += path
        return url
    }

    private func makeBody() -> HTTPClientRequest.Body? {
        if let reader = reading?.reader {
            let length = body.byteCount.map { HTTPClientRequest.Body.Length.known(Int64($0)) } ?? .unknown
            return .stream(Pieces(reader: reader, timeouts: timeouts, eventLoops: eventLoops), length: length)
        }
        guard !body.isAbsent, let bytes = body.bytes else { return nil }
        return .bytes(ByteBuffer(bytes: bytes))
    }

    private static func isFraming(_ name: HTTPField.Name) -> Bool {
        name == .contentLength || name == host
    }

    private static let host = HTTPField.Name("Host")
}

extension AsyncHTTPClientUpload {
    private struct Pieces: AsyncSequence, Sendable {
        let reader: AsyncHTTPClientUploadReader
        let timeouts: AsyncHTTPClientTimeouts?
        let eventLoops: any EventLoopGroup

        struct AsyncIterator: AsyncIteratorProtocol {
            let reader: AsyncHTTPClientUploadReader
            let timeouts: AsyncHTTPClientTimeouts?
            var window: AsyncHTTPClientSendWindow

            mutating func next() async throws -> ByteBuffer? {
                timeouts?.isMakingPiece()
                guard let piece = try await reader.next() else {
                    timeouts?.isWaitingForHead()
                    return nil
                }
                let buffer = ByteBuffer(bytes: piece)
                await window.add(buffer)
                timeouts?.isWriting()
                return buffer
            }
        }

        func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(reader: reader, timeouts: timeouts, window: AsyncHTTPClientSendWindow(eventLoops))
        }
    }
}

extension PipelineRequest {
    /// Returns the request without a body if its body in pieces announces no bytes.
    ///
    /// The client would not read such a body, and would send the request without what it yields.
    func readingEmptyStream() async throws -> PipelineRequest {
        guard AsyncHTTPClientUpload.isInPieces(body), body.byteCount == 0 else { return self }
        for try await piece in body.chunks() where !piece.isEmpty {
            throw PipelineError(.bodyChanged, "the body has bytes, but it announced none")
        }
        try Task.checkCancellation()
        var request = self
        request.body = .absent
        return request
    }
}
#endif
