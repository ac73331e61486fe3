extension Stage {
    /// How a call ended, as ``DidFinish`` sees it.
    public struct Outcome: Sendable {
        /// How a call can end.
        public enum Kind: String, Sendable {
            /// The caller got what it asked for.
            case success
            /// The call failed.
            case failure
            /// The call was cancelled, or its stream was released before its end.
            case cancelled
        }

        /// The kind of the end.
        public let kind: Kind
        /// Why the call did not succeed, with code ``PipelineError/Code-swift.struct/cancelled`` for a cancelled one; `nil` for a success.
        public let error: PipelineError?
        /// The status of the response, also of one that was not accepted or did not decode; `nil` without a response.
        public let statusCode: Int?
        /// How many attempts were begun: 1 without a retry, 0 if the call ended before it had a request.
        public let attemptCount: Int
        /// The exchanges of the call that have ended, retries and redirects included, in the order of
        /// ``PipelineResponse/exchanges``.
        ///
        /// Empty for a response that a plugin made or that the call got from the exchange of another call.
        public let exchanges: [PipelineExchange]
        /// The bytes of the response's body, decoded if a plugin decodes it: of a stream those that were read, 0 without a response.
        public let receivedByteCount: Int
        /// The time from the start of the call to its end, on ``PipelineContext/clock``.
        public let duration: Duration
        /// The time from the start of the call to the header fields of its last response; `nil` if no exchange had a response, or if the
        /// transport handed the response over whole.
        public let timeToFirstByte: Duration?
    }
}
