import Foundation

/// One stream of a subscription; an actor, because a task of its own reads it.
actor EventConnection {
    private var stream: StreamBatches<NoticeDecoder>?

    init(_ body: PipelineBody, _ decoder: NoticeDecoder) {
        stream = StreamBatches(body, decoder)
    }

    func read() async throws -> [ServerSentEvent.Subscription.Notice]? {
        guard var stream = stream.take() else { return nil }
        // Kept after an error too: what was read before it counts.
        defer { self.stream = stream }
        return try await stream.read()
    }

    /// Returns the notices that have arrived and were not read.
    func takeArrived() -> [ServerSentEvent.Subscription.Notice] { stream?.takeArrived() ?? [] }

    /// Closes the exchange and returns the decoder, with the state for the next stream; `nil` if it was already closed.
    func close() -> NoticeDecoder? { stream.take()?.decoder }
}

/// Decodes the notices of one stream of a subscription.
struct NoticeDecoder: StreamDecoder {
    private(set) var parser: ServerSentEvent.Parser
    private(set) var hasEvents = false
    private let reportsComments: Bool

    init(_ parser: ServerSentEvent.Parser, reportsComments: Bool) {
        self.parser = parser
        self.reportsComments = reportsComments
    }

    mutating func append(_ bytes: Data) { parser.append(bytes) }

    mutating func end() {}

    mutating func next() throws -> ServerSentEvent.Subscription.Notice? {
        let notice = try parser.nextNotice(reportingComments: reportsComments)
        if notice?.event != nil { hasEvents = true }
        return notice
    }
}
