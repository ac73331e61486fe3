import Foundation
package import HTTPTypes
import PipelineContentCoding
import PipelineCore

/// Bodies in the content codings that their header fields name.
///
/// Source: RFC 9110 §8.4, https://www.rfc-editor.org/rfc/rfc9110.html#section-8.4
package enum CodedBody {
    /// Returns whether the fields name a coding.
    package static func isNamed(in fields: HTTPFields) -> Bool {
        guard let codings = try? ContentCoding.all(in: fields, upTo: maximumCodings) else { return true }
        return !codings.isEmpty
    }

    /// Returns whether a response has a complete body, unlike a response to HEAD or a partial one.
    static func isWhole(status: Int, method: String) -> Bool {
        switch status {
        case 100..<200, 204, 205, 206, 304: false
        default: method != "HEAD"
        }
    }

    /// Returns the decoded body and the decoded length of each piece; `nil` if the coding is unknown.
    ///
    /// - Parameters:
    ///   - body: the bytes.
    ///   - fields: the header fields, which name the codings.
    ///   - pieces: the lengths of the pieces in which the body arrived; they add up to the body.
    ///   - isCut: whether the body may end early.
    ///   - limit: the most decoded bytes.
    /// - Returns: the body, and the lengths of its pieces.
    /// - Throws: `PipelineError` if the body is damaged, not in the coding, or larger than the limit.
    static func decode(
        _ body: Data,
        _ fields: HTTPFields,
        pieces: [Int] = [],
        isCut: Bool = false,
        upTo limit: Int
    ) throws -> (body: Data, pieces: [Int])? {
        guard !body.isEmpty, let codings = try? ContentCoding.all(in: fields, upTo: maximumCodings), !codings.isEmpty
        else { return nil }
        let plan = DecodingPlan(codings: codings, ratio: .max, ratioFreeByteCount: .max)
        var chain = DecoderChain(plan, byteLimit: limit)
        var output = ByteBuffer(capacity: min(body.count * 4, limit, 1 << 20))
        var counts: [Int] = []
        var start = body.startIndex
        for piece in pieces.isEmpty ? [body.count] : pieces {
            let before = output.count
            chain.feed(Data(body[start..<start + piece]))
            start += piece
            if start == body.endIndex, !isCut { chain.feedEnd() }
            try read(&chain, into: &output)
            counts.append(output.count - before)
        }
        return (output.finish(), pieces.isEmpty ? [] : counts)
    }

    private static func read(_ chain: inout DecoderChain, into output: inout ByteBuffer) throws {
        while true {
            let count = try chain.read(into: output.room(upTo: 1 << 20))
            guard count > 0 else { return }
            output.count += count
        }
    }

    /// Returns the exchange, as it was on the wire, with its bodies decoded if possible.
    package static func decoded(_ exchange: RecordedExchange, upTo limit: Int) -> RecordedExchange {
        var exchange = exchange
        exchange.request = decoded(exchange.request, upTo: limit)
        if let response = exchange.response, !response.body.isEmpty, isNamed(in: response.headers) {
            exchange.response?.wireByteCount = response.body.count
            exchange.response?.isCoded = true
            try? decode(&exchange, upTo: limit)
        }
        return exchange
    }

    /// Decodes the body of a response that is in its content coding, if the coding is known.
    ///
    /// - Throws: `PipelineError` if the body is damaged, not in the coding, or larger than the limit.
    static func decode(_ exchange: inout RecordedExchange, upTo limit: Int) throws {
        guard var response = exchange.response, response.isCoded,
            isWhole(status: response.status, method: exchange.request.method),
            let decoded = try decode(
                response.body,
                response.headers,
                pieces: response.chunks.map(\.byteCount),
                isCut: exchange.failure != nil,
                upTo: limit
            )
        else { return }
        response.isCoded = false
        response.body = decoded.body
        response.chunks = zip(response.chunks, decoded.pieces).map { .init(byteCount: $1, delay: $0.delay) }
        exchange.response = response
    }

    /// Returns the request with its body decoded if possible.
    static func decoded(_ request: RecordedExchange.Request, upTo limit: Int) -> RecordedExchange.Request {
        guard let body = request.body, let decoded = try? decode(body, request.headers, upTo: limit)
        else { return request }
        var request = request
        request.body = decoded.body
        return request
    }

    private static let maximumCodings = 5
}
