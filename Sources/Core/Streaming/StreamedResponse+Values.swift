public import Foundation
import HTTPTypes

extension StreamedResponse {
    /// Returns the body line by line as UTF-8 text.
    ///
    /// A line ends with LF, CRLF or CR; the last line needs no end. A byte order mark is removed, and bytes that are
    /// not UTF-8 are replaced by U+FFFD.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/limit(_:)`` with `.lineBytes` if a line is longer than allowed;
    /// ``PipelineError/Code-swift.struct/contentCoding(_:)`` with `.unsupported` if the body is still compressed.
    ///
    /// - Parameter maximumByteCount: the most bytes of a line, 1 and up; defaults to 1 MiB.
    /// - Returns: the lines without their ends.
    public func lines(maximumByteCount: Int = 1 << 20) -> StreamedResponse.Values<String> {
        values(decodedBy: LineDecoder(maximumByteCount: maximumByteCount))
    }

    /// Returns the body as JSON Lines (NDJSON), with one value for each line.
    ///
    /// ```swift
    /// for try await price in try await provider.stream(.prices).jsonLines(as: Price.self) { show(price) }
    /// ```
    ///
    /// A line ends with LF; a CR before it is white space. The last line needs no end. Blank lines and a byte order
    /// mark are ignored.
    ///
    /// **Errors**
    ///
    /// - ``PipelineError/Code-swift.struct/mapping(_:)`` with `.object` if a line does not decode. The error has the
    ///   number of the line, counted from 1 and including blank lines, and the place in the value, never the line's
    ///   text.
    /// - ``PipelineError/Code-swift.struct/limit(_:)`` with `.lineBytes` if a line is longer than allowed.
    /// - ``PipelineError/Code-swift.struct/contentCoding(_:)`` with `.unsupported` if the body is still compressed.
    ///
    /// Source: https://jsonlines.org
    ///
    /// - Parameters:
    ///   - type: the type that a line decodes to.
    ///   - decoder: the decoder; `nil` for that of the provider that returned the response.
    ///   - maximumByteCount: the most bytes of a line, 1 and up; defaults to 1 MiB.
    /// - Returns: the values.
    public func jsonLines<Value: Decodable & Sendable>(
        as type: Value.Type,
        decoder: JSONDecoder? = nil,
        maximumByteCount: Int = 1 << 20
    ) -> StreamedResponse.Values<Value> {
        values(
            decodedBy: LineDecoder<Value>(
                decoder: decoder ?? response.jsonDecoder(for: type),
                maximumByteCount: maximumByteCount
            )
        )
    }

    /// Returns the body as Server-Sent Events until it ends.
    ///
    /// To reconnect when the stream breaks, subscribe with `Provider.serverSentEvents` instead.
    ///
    /// **Errors**
    ///
    /// - ``PipelineError/Code-swift.struct/mapping(_:)`` with `.events`, and the response without its body, if the
    ///   Content-Type is not `text/event-stream`. A ``ServerSentEvent/Parser`` can still read such a body.
    /// - ``PipelineError/Code-swift.struct/contentCoding(_:)`` with `.unsupported` if the body is still compressed.
    /// - The errors of ``ServerSentEvent/Parser``.
    ///
    /// - Parameter maximumByteCount: the most bytes of a line, and of the data of an event, 1 and up; defaults to 1
    ///   MiB.
    /// - Returns: the events.
    public func serverSentEvents(maximumByteCount: Int = 1 << 20) -> StreamedResponse.Values<ServerSentEvent> {
        let parser = ServerSentEvent.Parser(maximumByteCount: maximumByteCount)
        let response = response
        return StreamedResponse.Values {
            try response.requireEventStream()
            return StreamBatches(response.body, parser)
        }
    }

    private func values<Decoder: StreamDecoder>(decodedBy decoder: Decoder) -> StreamedResponse.Values<Decoder.Element>
    {
        let response = response
        return StreamedResponse.Values {
            try response.requireDecoded()
            return StreamBatches(response.body, decoder)
        }
    }
}

extension PipelineResponse {
    /// Throws unless the body is a decoded stream of events; parameters of the media type are ignored, as it is always
    /// UTF-8.
    func requireEventStream() throws {
        guard MediaType(headers[.contentType] ?? "").essence == "text/event-stream" else {
            throw unreadable(.mapping(.events), "the Content-Type is not text/event-stream")
        }
        try requireDecoded()
    }

    /// Throws if the body still has a content coding, in which no line or event can be read.
    func requireDecoded() throws {
        let codings = headers[values: .contentEncoding]
            .flatMap { $0.split(separator: ",") }
            .map { $0.trimmingBlanks.lowercased() }
            .filter { !$0.isEmpty && $0 != "identity" }
        guard !codings.isEmpty, body.inMemoryByteCount != 0 else { return }
        let known = ["gzip", "x-gzip", "deflate", "br", "zstd"]
        let name = codings.count == 1 ? known.first { $0 == codings[0] } : nil
        throw unreadable(
            .contentCoding(.unsupported),
            """
            the body is compressed\(name.map { " with \($0)" } ?? ""), and no plugin or transport has decoded it; add GzipPlugin to \
            the stack (with the package trait Compression it also decodes br and zstd), and leave Accept-Encoding to it
            """
        )
    }

    private func unreadable(_ code: PipelineError.Code, _ reason: String) -> PipelineError {
        var response = self
        response.body = .absent
        return PipelineError(code, reason, response: response)
    }
}
