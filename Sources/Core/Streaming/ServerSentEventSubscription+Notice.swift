extension ServerSentEvent.Subscription {
    /// An event, a comment, an opened stream, or a wait before the next attempt to connect.
    ///
    /// Exactly one property has a value. Later versions may add kinds of notices for which all of them are `nil`.
    public struct Notice: Sendable {
        /// An event that the server sent.
        public internal(set) var event: ServerSentEvent?
        /// The text of a comment, without the leading colon and one space after it.
        ///
        /// Servers send comments to keep a connection open.
        public internal(set) var comment: String?
        /// The response that opened a stream, without its body.
        public internal(set) var response: PipelineResponse?
        /// The wait that begins after a stream ended or an attempt failed.
        public internal(set) var reconnection: Reconnection?
    }

    /// A wait before the next attempt to connect.
    public struct Reconnection: Sendable {
        /// The length of the wait; zero after ``ServerSentEvent/Subscription/restart()`` and in a replay without a
        /// pace.
        public let delay: Duration
        /// The failure that caused the wait; `nil` if the server ended the stream or the caller restarted it.
        public let error: PipelineError?
    }
}
