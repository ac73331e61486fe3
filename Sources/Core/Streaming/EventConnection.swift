import Foundation

/// One stream of a subscription; an actor, because a task of its own reads it.
actor EventConnection {
    /// The state that a stream passes on to the next one.
    struct End: Sendable {
        let lastEventID: String
        let reconnectionTime: Duration?
        let hasEvents: Bool
    }

    private var stream: StreamBatches<NoticeDecoder>?

    init(_ body: PipelineBody, _ decoder: NoticeDecoder) {
        stream = StreamBatches(body, decoder)
    }

    func read() async throws -> [ServerSentEventSubscription.Notice]? {
        guard var stream = stream.take() else { return nil }
        // Kept after an error too: what was read before it counts.
        defer { self.stream = stream }
        return try await stream.read()
    }

    /// Closes the exchange and returns the state for the next stream; `nil` if it was already closed.
    func close() -> End? {
        guard let decoder = stream.take()?.decoder else { return nil }
        return End(
            lastEventID: decoder.parser.lastEventID,
            reconnectionTime: decoder.parser.reconnectionTime,
            hasEvents: decoder.hasEvents
        )
    }
}

/// Decodes the notices of one stream of a subscription.
struct NoticeDecoder: StreamDecoder {
    private(set) var parser: ServerSentEventParser
    private(set) var hasEvents = false
    private let reportsComments: Bool

    init(_ parser: ServerSentEventParser, reportsComments: Bool) {
        self.parser = parser
        self.reportsComments = reportsComments
    }

    mutating func append(_ bytes: Data) { parser.append(bytes) }

    mutating func end() {}

    mutating func next() throws -> ServerSentEventSubscription.Notice? {
        switch try parser.nextItem(reportingComments: reportsComments) {
        case .event(let event):
            hasEvents = true
            return .event(event)
        case .comment(let text): return .comment(text)
        case nil: return nil
        }
    }
}
