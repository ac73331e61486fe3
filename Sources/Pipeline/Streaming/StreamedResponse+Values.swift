public import Foundation
import HTTPTypes

extension StreamedResponse {
    /// The body line by line, as text in UTF-8.
    ///
    /// A line ends with LF, CRLF or CR; the last needs no end. A byte order mark is left out, and what is no UTF-8 is replaced by
    /// U+FFFD.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/limit(_:)`` with `.lineBytes` for a line that is longer.
    ///
    /// - Parameter maximumByteCount: the most bytes of a line, 1 and up; default 1 MiB.
    /// - Returns: the lines without their ends.
    public func lines(maximumByteCount: Int = 1 << 20) -> StreamedValues<String> {
        values(decodedBy: LineDecoder(maximumByteCount: maximumByteCount))
    }

    /// The body as JSON Lines (NDJSON): a value of each line.
    ///
    /// ```swift
    /// for try await price in try await provider.stream(.prices).jsonLines(as: Price.self) { show(price) }
    /// ```
    ///
    /// A line ends with LF, a CR before it is white space; the last needs no end. Blank lines and a byte order mark are left out.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/mapping(_:)`` with `.object` for a line that does not decode: it has the number of
    /// the line, from 1 and with blank lines counted, and where in the value it failed, never the line's text.
    /// ``PipelineError/Code-swift.struct/limit(_:)`` with `.lineBytes` for a line that is longer.
    ///
    /// Source: https://jsonlines.org
    ///
    /// - Parameters:
    ///   - type: what a line decodes to.
    ///   - decoder: the decoder.
    ///   - maximumByteCount: the most bytes of a line, 1 and up; default 1 MiB.
    /// - Returns: the values.
    public func jsonLines<Value: Decodable & Sendable>(
        as type: Value.Type,
        decoder: JSONDecoder = JSONDecoder(),
        maximumByteCount: Int = 1 << 20
    ) -> StreamedValues<Value> {
        values(decodedBy: JSONLineDecoder<Value>(decoder: decoder, maximumByteCount: maximumByteCount))
    }

    /// The body as Server-Sent Events, until it ends.
    ///
    /// For a subscription that goes on when the stream breaks there is `Provider.serverSentEvents`.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/mapping(_:)`` with `.events`, and the response without its body, when the
    /// Content-Type is not `text/event-stream`; a ``ServerSentEventParser`` reads such a body all the same. Else as that parser.
    ///
    /// - Parameter maximumByteCount: the most bytes of a line, and of the data of an event, 1 and up; default 1 MiB.
    /// - Returns: the events.
    public func serverSentEvents(maximumByteCount: Int = 1 << 20) -> StreamedValues<ServerSentEvent> {
        let parser = ServerSentEventParser(maximumByteCount: maximumByteCount)
        let response = response
        return StreamedValues {
            try response.requireEventStream()
            return StreamBatches(response.body, parser)
        }
    }

    private func values<Decoder: StreamDecoder>(decodedBy decoder: Decoder) -> StreamedValues<Decoder.Element> {
        let body = response.body
        return StreamedValues { StreamBatches(body, decoder) }
    }
}

extension PipelineResponse {
    /// Refuses what does not say that it is a stream of events; parameters of the type mean nothing, it is always UTF-8.
    func requireEventStream() throws {
        guard MediaType(headers[.contentType] ?? "").essence != "text/event-stream" else { return }
        var response = self
        response.body = .none
        throw PipelineError(.mapping(.events), "the Content-Type is not text/event-stream", response: response)
    }
}
