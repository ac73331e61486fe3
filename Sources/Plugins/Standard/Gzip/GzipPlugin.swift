import HTTPTypes
import PipelineContentCoding
public import PipelineCore

/// A plugin that asks for compressed responses and decodes them, and compresses request bodies where that is wanted.
///
/// ```swift
/// GzipPlugin()
/// GzipPlugin(requestCompression: .whenOffered)
/// try await provider.request(.upload(report), options: .init { $0.requestCompression = .always })
/// ```
///
/// **Effects**
///
/// Requests:
///
/// - By default, bodies are sent as they are, because many servers refuse compressed ones.
/// - With `.whenOffered` or `.always`, a body of `minimumByteCount` bytes or more is sent as gzip without a time or a
///   name. Content-Encoding is set, and an existing Content-Length is corrected or removed.
/// - A body in memory is compressed only if that makes it smaller.
/// - A file or a stream is compressed while it is sent. Its length is then unknown, and so is the total of its
///   progress. It stays replayable if it was so before, and zlib may hold back part of it until more arrives.
/// - Bodies whose Content-Type denotes compressed data (images, video, audio, archives, PDF, office documents) are not
///   compressed. Neither are bodies of requests with Content-Encoding, Content-Range or a digest of the content. Bodies
///   of type `application/octet-stream` or `multipart`, or without a type, are compressed only if they are in memory.
/// - If a compressed request gets a 415, it is sent again as it was, if its body can be replayed.
/// - If the request has no Accept-Encoding, it is set to `gzip, deflate`, plus `br` and `zstd` with the package trait
///   `Compression`. If the request already has one, the response is passed on as it is.
///
/// Responses:
///
/// - A body in gzip, x-gzip or deflate (with or without the zlib wrapper) is decoded, even with several codings,
///   several members, or zeros after the last member. The checksum and the length at the end are checked.
///   Content-Encoding and Content-Length are then removed.
/// - For `request`, the body is decoded in memory. For `stream`, each piece is decoded on demand, off the reader's
///   actor, in bounded memory; if the reader stops, the exchange is closed.
/// - A download and a request with Range do not ask for a coding, so that lengths and offsets are those of the file. If
///   a download arrives in a coding nevertheless, it is decoded on the way to its destination.
/// - Responses to HEAD, responses with status 204, 205, 206 or 304, and responses in `identity` are not touched. An
///   empty body stays empty.
/// - On a transport that decodes bodies itself, the plugin neither asks for a coding nor decodes, and `explain()`
///   reports this.
///
/// Nothing is kept between calls, except, with `.whenOffered`, which paths offered to decode gzip.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `requestCompression` | `.never` | | `.never`, `.whenOffered`, `.always`; for one call: `RequestOptions.requestCompression` |
/// | `level` | 6 | | 1 (fastest) to 9 (smallest) |
/// | `minimumByteCount` | 1,024 (1 KiB) | bytes of a body whose length is known | 0 and up |
/// | `limits` | ``Limits`` | | |
///
/// **Position**
///
/// - Inside every plugin that reads or changes bodies, so that those plugins see decoded bodies. ``LoggingPlugin``
///   outside writes text; inside, it writes what is on the wire.
/// - Outside a plugin that signs bodies or shares responses. A shared response is kept compressed and decoded for each
///   caller that joins; the other way round, it is decoded once.
/// - Inside a plugin that retries, each attempt compresses again, to the same bytes; outside it, the body is compressed
///   once.
/// - If a stack has two, the inner one does nothing.
///
/// **Errors**
///
/// - `contentCoding.truncated`: the response ends too early.
/// - `contentCoding.corrupt`: the response is damaged or not in its coding.
/// - `contentCoding.trailing`: there is more data after the end of the response.
/// - `contentCoding.unsupported`: the response has a coding that was not asked for.
/// - `limit.decodedBytes`: the decoded response is too large, or more than `ratio` times as large as what was received.
/// - `limit.codings`: the response has too many codings; nothing is decoded.
/// - `bodyChanged`: the length of a stream to send differs from the announced length.
///
/// After an error in a response, the exchange is closed and not read to its end, and `CachePlugin` removes the
/// response. For a stream or a download, the error is thrown while the body is read. Other failures pass through
/// unchanged.
///
/// **Secrets**: no error contains part of a body. The length of a compressed body reveals something about its content.
/// If others can place text next to a secret and see lengths, turn compression off for that request.
///
/// Source: RFC 1952, https://www.rfc-editor.org/rfc/rfc1952.html, RFC 9110 §8.4 and §12.5.3,
/// https://www.rfc-editor.org/rfc/rfc9110.html#section-8.4
public struct GzipPlugin: Stage.Intercept {
    private let requestCompression: RequestCompression
    let level: Int
    let minimumByteCount: Int
    private let limits: Limits
    private let offers = CompressionOffers()

    /// Creates a plugin that compresses requests and decodes responses.
    ///
    /// - Parameters:
    ///   - requestCompression: when request bodies are compressed.
    ///   - level: the compression level, from 1 (fastest) to 9 (smallest).
    ///   - minimumByteCount: the size in bytes from which a body is compressed, 0 and up.
    ///   - limits: how large a body may become when it is decoded.
    public init(
        requestCompression: RequestCompression = .never,
        level: Int = 6,
        minimumByteCount: Int = 1_024,
        limits: Limits = Limits()
    ) {
        precondition((1...9).contains(level), "level is \(level), not 1 to 9")
        precondition(minimumByteCount >= 0, "minimumByteCount is \(minimumByteCount), not 0 or more")
        self.requestCompression = requestCompression
        self.level = level
        self.minimumByteCount = minimumByteCount
        self.limits = limits
    }

    /// Asks for a compressed response and decodes it; compresses the request body where that is wanted.
    public func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        var request = request
        let expectation = try ask(in: &request, context)
        var response =
            switch context.options.requestCompression ?? requestCompression {
            case .never: try await next(request)
            case let compression: try await exchange(request, compression, context, next)
            }
        do {
            try await decode(&response, expectation, context)
            return response
        } catch let error as PipelineError {
            throw await failure(error, response, context)
        }
    }

    /// Returns the error of a response that cannot be decoded, and has a cache remove the response.
    ///
    /// Not inlined, because its variables would take up memory in every waiting call.
    @inline(never)
    private func failure(
        _ error: PipelineError,
        _ response: PipelineResponse,
        _ context: PipelineContext
    ) async -> PipelineError {
        await Self.report(error, context)
        var (error, response) = (error, response)
        response.body = .absent
        error.response = response
        return error
    }

    // MARK: Request

    /// Compresses the body if that is wanted, and sends it as it was if the server refuses it.
    private func exchange(
        _ request: PipelineRequest,
        _ compression: RequestCompression,
        _ context: PipelineContext,
        _ next: Stage.Next
    ) async throws -> PipelineResponse {
        let resource = Self.resource(of: request, context)
        var sent = request
        var isCompressed = false
        if compression == .always || offers.contains(resource) { isCompressed = try await compress(&sent) }
        var response = try await next(sent)
        if response.request.origin == request.origin {
            offers.note(response.headers[values: .acceptEncoding], of: resource)
        }
        guard isCompressed, response.statusCode == 415 else { return response }
        offers.withdraw(resource)
        guard request.body.isReplayable, context.exchanges.count < context.limits.exchangeCount else {
            return response
        }
        await response.discardBody(context)
        return try await next(request)
    }

    /// Returns what shares an offer: the origin, and the path without the query or its template.
    private static func resource(of request: PipelineRequest, _ context: PipelineContext) -> String {
        // After a redirect, the template is that of another path.
        let template = context.hop == 0 ? context.target.pathTemplate : nil
        return "\(request.origin) \(template ?? String((request.head.path ?? "").prefix { $0 != "?" }))"
    }

    /// The content coding that the response may have.
    private enum Expectation {
        /// One of the codings that the plugin asked for.
        case asked
        /// None was asked for, but the response may have one.
        case unasked
        /// Another plugin, the caller or the transport handles the coding.
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
            ratio: limits.ratio,
            ratioFreeByteCount: limits.ratioFreeByteCount
        )
        if let bytes = response.body.bytes, !context.isStreaming {
            let byteLimit = min(limits.decodedByteCount, context.limits.bufferedBodyByteCount)
            response.body = .bytes(try await plan.decode(bytes, upTo: byteLimit))
        } else {
            response.body = plan.decodedStream(of: response.body) { error in
                await Self.report(error, context)
            }
        }
        response.headers[.contentEncoding] = nil
        response.headers[.contentLength] = nil
    }

    /// Has a cache remove the response if an error shows that its body is damaged.
    private static func report(_ error: any Error, _ context: PipelineContext) async {
        switch (error as? PipelineError)?.code {
        case .contentCoding(.decoder)?: return
        case .contentCoding?, .limit(.decodedBytes)?, .limit(.codings)?: await context.report(Stage.DamagedBody(error))
        default: return
        }
    }

    /// Returns whether the body is a whole representation; no other can be decoded.
    private static func hasContent(_ response: PipelineResponse) -> Bool {
        switch response.statusCode {
        case 100..<200, 204, 205, 206, 304: false
        default: response.request.method != .head
        }
    }
}

extension GzipPlugin: CapabilityDeclaring {
    /// The capability of this plugin: `PluginCapability.codesContent`.
    public var capabilities: Set<PluginCapability> { [.codesContent] }
}
