import Foundation
import NIOCore
import NIOHTTP1
import Pipeline

/// A connection of a client, which serves one request after another.
struct ServerConnection {
    typealias Channel = NIOAsyncChannel<HTTPServerRequestPart, ResponsePart>
    typealias ResponsePart = HTTPServerResponsePart

    /// The largest body of a request, in bytes.
    private static let requestLimit = 16 << 20

    let channel: Channel
    let handler: LoopbackServer.Handler

    /// Serves requests until the client or an error closes the connection.
    func run() async {
        // An error ends only this connection, and the client sees that it was closed.
        try? await channel.executeThenClose { inbound, outbound in
            var parts = inbound.makeAsyncIterator()
            while let head = try await Self.nextHead(&parts) {
                let isLast = !head.isKeepAlive || head.version == .http1_0
                guard let request = try IncomingRequest(head) else {
                    return try await Self.refuse(.badRequest, head, outbound)
                }
                if head.version != .http1_0, head.headers.first(name: "expect")?.lowercased() == "100-continue" {
                    try await outbound.write(.head(HTTPResponseHead(version: .http1_1, status: .continue)))
                }
                guard let body = try await Self.nextBody(&parts) else {
                    return try await Self.refuse(.contentTooLarge, head, outbound)
                }
                let response = await handler(request.with(body))
                try await Self.write(response, to: head, isLast: isLast, outbound)
                if isLast { return }
            }
        }
    }

    private static func nextHead(
        _ parts: inout NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator
    ) async throws -> HTTPRequestHead? {
        while let part = try await parts.next(isolation: #isolation) {
            if case .head(let head) = part { return head }
        }
        return nil
    }

    /// Returns the body, or `nil` if it is too large.
    private static func nextBody(
        _ parts: inout NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator
    ) async throws -> Data? {
        var body = Data()
        while let part = try await parts.next(isolation: #isolation) {
            switch part {
            case .head: break
            case .body(let bytes):
                guard body.count + bytes.readableBytes <= requestLimit else { return nil }
                body.append(contentsOf: bytes.readableBytesView)
            case .end: return body
            }
        }
        throw ChannelError.inputClosed
    }

    private static func refuse(
        _ status: HTTPResponse.Status,
        _ head: HTTPRequestHead,
        _ outbound: NIOAsyncChannelOutboundWriter<ResponsePart>
    ) async throws {
        try await write(.text(status, "\(status)"), to: head, isLast: true, outbound)
    }

    /// Writes a response, with a streamed body as it arrives.
    ///
    /// A body that ends early or late throws an error, which closes the connection, so that the client does not take
    /// the response for a complete one (RFC 9112 §8).
    private static func write(
        _ response: OutgoingResponse,
        to head: HTTPRequestHead,
        isLast: Bool,
        _ outbound: NIOAsyncChannelOutboundWriter<ResponsePart>
    ) async throws {
        let framed = FramedResponse(response, to: head, isLast: isLast)
        guard framed.hasBody else {
            // A cache stores a response when its body, even if empty, has been read.
            for try await _ in response.body.chunks() {}
            return try await outbound.write(contentsOf: [.head(framed.head), .end(nil)])
        }
        if let bytes = response.body.bytes {
            return try await outbound.write(contentsOf: [.head(framed.head), part(bytes), .end(nil)])
        }
        try await outbound.write(.head(framed.head))
        var count = 0
        var last: [ResponsePart] = [.end(nil)]
        for try await chunk in response.body.chunks() {
            count += chunk.count
            if let length = framed.length, count >= length {
                guard count == length else { throw FramedResponse.WrongLength() }
                // With these bytes, the client has the whole response and may repeat the request, so they wait until
                // the cache has stored it.
                last.insert(part(chunk), at: last.count - 1)
            } else {
                try await outbound.write(part(chunk))
            }
        }
        if let length = framed.length, count < length { throw FramedResponse.WrongLength() }
        try await outbound.write(contentsOf: last)
    }

    private static func part(_ bytes: Data) -> ResponsePart {
        .body(.byteBuffer(ByteBuffer(bytes: bytes)))
    }
}
