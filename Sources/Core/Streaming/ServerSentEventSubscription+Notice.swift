extension ServerSentEventSubscription {
    /// An event, a comment, an opened stream, or a wait before the next attempt to connect.
    ///
    /// Exactly one property has a value. Later versions may add kinds of notices for which all of them are `nil`.
    public struct Notice: Sendable {
        private enum Content {
            case event(ServerSentEvent)
            case comment(String)
            case opened(PipelineResponse)
            case reconnecting(Reconnection)
        }

        private let content: Content

        static func event(_ event: ServerSentEvent) -> Notice { Notice(content: .event(event)) }

        static func comment(_ text: String) -> Notice { Notice(content: .comment(text)) }

        static func opened(_ response: PipelineResponse) -> Notice { Notice(content: .opened(response)) }

        static func reconnecting(_ reconnection: Reconnection) -> Notice {
            Notice(content: .reconnecting(reconnection))
        }

        /// An event that the server sent.
        public var event: ServerSentEvent? {
            guard case .event(let event) = content else { return nil }
            return event
        }

        /// The text of a comment, without the leading colon and one space after it.
        ///
        /// Servers send comments to keep a connection open.
        public var comment: String? {
            guard case .comment(let text) = content else { return nil }
            return text
        }

        /// The response that opened a stream, without its body.
        public var response: PipelineResponse? {
            guard case .opened(let response) = content else { return nil }
            return response
        }

        /// The wait that begins after a stream ended or an attempt failed.
        public var reconnection: Reconnection? {
            guard case .reconnecting(let reconnection) = content else { return nil }
            return reconnection
        }
    }

    /// A wait before the next attempt to connect.
    public struct Reconnection: Sendable {
        /// The length of the wait; zero after ``ServerSentEventSubscription/restart()`` and in a replay without a pace.
        public let delay: Duration
        /// The failure that caused the wait; `nil` if the server ended the stream or the caller restarted it.
        public let error: PipelineError?
    }
}
