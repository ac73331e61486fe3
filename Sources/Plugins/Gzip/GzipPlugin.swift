import HTTPTypes
public import Pipeline
import PipelineContentCoding

/// Compresses the bodies of requests with gzip, and asks for compressed answers and decodes them.
///
/// ```swift
/// GzipPlugin()
/// GzipPlugin(requestCompression: .off)
/// try await provider.request(.upload(report), options: .init { $0.requestCompression = .off })
/// ```
///
/// **Position**: inside every plugin that reads or changes bodies, which so has them decoded: `LoggingPlugin` outside writes text,
/// inside it what is on the wire. Outside a plugin that signs bodies or shares answers: a shared answer is kept compressed,
/// and decoded for each caller that joins; the other way round it is decoded once. Inside a plugin that sends again each
/// attempt compresses anew, to the same bytes; outside it once. Of two in one stack the inner one does nothing.
///
/// **Effects**
///
/// - The body of a request of `minimumByteCount` or more becomes gzip without time and name, Content-Encoding says so, and
///   a Content-Length that is there is put right or removed. Bytes are compressed if that makes them fewer. A file or a stream
///   is compressed while it is sent: its length is not known then, nor of how many bytes its progress is, it can be sent again if
///   it could before, and a piece of it may wait in zlib until more has come.
/// - Left alone are bodies whose Content-Type is of compressed data (images, video, audio, archives, PDF, office documents),
///   and those of requests with Content-Encoding, Content-Range or a digest of the content. Of `application/octet-stream`,
///   `multipart` and no type only bytes are compressed.
/// - Accept-Encoding is set to `gzip, deflate` where it is not set, and to `br` and `zstd` as well with the package traits `Brotli` and
///   `Zstd`. Where it is set, the answer is handed over as it is.
/// - An answer in gzip, x-gzip or deflate (with and without the zlib wrapper) is decoded, also in several codings, of several
///   members, and with zeros behind the last; Content-Encoding and Content-Length are then removed. The check sum and the length at
///   the end are checked.
/// - For `request` it is decoded in memory. For `stream` each piece is decoded when it is asked for, away from the reader's
///   actor, in bounded memory; a reader who stops closes the exchange.
/// - A download and a request with Range do not ask for a coding, so that lengths and offsets are those of the file; a download
///   that comes in one nevertheless is decoded on its way to its destination.
/// - Answers to HEAD, those with 204, 205, 206 or 304, and those in `identity` are untouched, and a body of no bytes stays one.
/// - On a transport that decodes by itself nothing is asked for and nothing is decoded, and `explain()` says so.
///
/// Nothing is kept between calls.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `requestCompression` | `.all` | | `.off`, `.bytes`, `.all`; one call: `RequestOptions.requestCompression` |
/// | `level` | 6 | | 1, the fastest, to 9, the smallest |
/// | `minimumByteCount` | 1,024 (1 KiB) | bytes of a body whose length is known | 0 and up |
/// | `limits` | ``Limits`` | | |
///
/// **Errors**: `contentCoding.truncated` for an answer that ends too early, `contentCoding.corrupt` for one that is damaged or is
/// not in its coding, `contentCoding.trailing` for one with more behind its end, `contentCoding.unsupported` for a coding
/// that was not asked for; `limit.decodedBytes` for one that is too large or more than `ratio` times as large as what has
/// arrived, `limit.codings` for too many codings, before anything is decoded. The exchange is closed then, not read to its end. Of a
/// stream and a download the reading throws them. `bodyChanged` for a stream to send that is not as long as it was announced.
/// Failures of others pass through.
///
/// **Secrets**: no error holds a part of a body. The length of a compressed body tells something of what is in it: where
/// others can have text put beside a secret and see lengths, turn compression off for that request.
///
/// Source: RFC 1952, https://www.rfc-editor.org/rfc/rfc1952.html,
/// RFC 9110 §8.4 and §12.5.3, https://www.rfc-editor.org/rfc/rfc9110.html#section-8.4
public struct GzipPlugin: Stage.Intercept {
    private let requestCompression: RequestCompression
    private let level: Int
    private let policy: CompressionPolicy
    private let limits: Limits

    /// Makes a plugin.
    ///
    /// - Parameters:
    ///   - requestCompression: which bodies of requests are compressed.
    ///   - level: how hard, from 1, the fastest, to 9, the smallest.
    ///   - minimumByteCount: from how many bytes on a body is compressed, 0 and up.
    ///   - limits: how far a body may grow when it is decoded.
    public init(
        requestCompression: RequestCompression = .all,
        level: Int = 6,
        minimumByteCount: Int = 1_024,
        limits: Limits = Limits()
    ) {
        precondition((1...9).contains(level), "level is \(level), not 1 to 9")
        precondition(minimumByteCount >= 0, "minimumByteCount is \(minimumByteCount), not 0 or more")
        self.requestCompression = requestCompression
        self.level = level
        self.policy = CompressionPolicy(minimumByteCount: minimumByteCount)
        self.limits = limits
    }

    /// Compresses the request, and decodes the response.
    public func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        var request = request
        try await compress(&request, context)
        let expectation = try ask(in: &request, context)
        var response = try await next(request)
        do {
            try await decode(&response, expectation, context)
            return response
        } catch var error as PipelineError {
            response.body = .absent
            error.response = response
            throw error
        }
    }

    // MARK: Request

    private func compress(_ request: inout PipelineRequest, _ context: PipelineContext) async throws {
        let body = request.body
        switch policy.decision(for: request, context.options.requestCompression ?? requestCompression) {
        case .leave: return
        case .whole:
            guard let bytes = body.bytes, let gzip = try await GzipEncoder.compressed(bytes, level: level) else {
                return
            }
            request.body = .bytes(gzip)
            if request.headers.contains(.contentLength) { request.headers[.contentLength] = String(gzip.count) }
        case .streamed:
            let chunks = CompressedChunks(body: body, level: level)
            request.body = body.isReplayable ? .stream(replaying: { chunks }) : .stream(chunks)
            request.headers[.contentLength] = nil
        }
        request.headers[.contentEncoding] = "gzip"
    }

    /// What the answer may be.
    private enum Expectation {
        /// In one of the codings that were asked for.
        case asked
        /// Perhaps in a coding all the same.
        case unasked
        /// As somebody else wants it.
        case foreign
    }

    private func ask(in request: inout PipelineRequest, _ context: PipelineContext) throws -> Expectation {
        guard !context.transportDecodesContent, !request.headers.contains(.acceptEncoding) else { return .foreign }
        guard !context.isDownload, !request.headers.contains(.range) else { return .unasked }
        try request.setHeader(ContentCoding.accepted, for: .acceptEncoding)
        return .asked
    }

    // MARK: Response

    private func decode(
        _ response: inout PipelineResponse,
        _ expectation: Expectation,
        _ context: PipelineContext
    ) async throws {
        guard expectation != .foreign, Self.hasContent(response) else { return }
        guard let codings = try ContentCoding.all(in: response.headers, upTo: limits.codingCount) else {
            guard expectation == .asked else { return }
            throw PipelineError(.contentCoding(.unsupported), "the body is in a content coding that was not asked for")
        }
        guard !codings.isEmpty else { return }
        let plan = DecodingPlan(
            codings: codings,
            limits: DecodingLimits(ratio: limits.ratio, ratioFreeByteCount: limits.ratioFreeByteCount)
        )
        if let bytes = response.body.bytes, !context.isStreaming {
            let byteLimit = min(limits.decodedByteCount, context.limits.bufferedBodyByteCount)
            response.body = .bytes(try await plan.decode(bytes, upTo: byteLimit))
        } else {
            response.body = plan.decodedStream(of: response.body)
        }
        response.headers[.contentEncoding] = nil
        response.headers[.contentLength] = nil
    }

    /// Whether the body is a whole representation, which alone can be decoded.
    private static func hasContent(_ response: PipelineResponse) -> Bool {
        switch response.statusCode {
        case 100..<200, 204, 205, 206, 304: false
        default: response.request.method != .head
        }
    }
}

extension GzipPlugin: CapabilityDeclaring {
    /// `PluginCapability.codesContent`.
    public var capabilities: Set<PluginCapability> { [.codesContent] }
}
