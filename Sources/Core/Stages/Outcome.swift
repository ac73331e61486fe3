extension Stage {
    /// The outcome of a call, as ``DidFinish`` sees it.
    public struct Outcome: Sendable {
        /// The ways in which a call can end.
        public enum Kind: String, Sendable {
            /// The caller got what it asked for.
            case success
            /// The call failed.
            case failure
            /// The call was cancelled, or its stream was released before its end.
            case cancelled
        }

        /// Whether the call succeeded, failed or was cancelled.
        public let kind: Kind
        /// The error of a call that did not succeed, with code ``PipelineError/Code-swift.struct/cancelled`` if it was
        /// cancelled; `nil` for a success.
        public let error: PipelineError?
        /// The status of the response, even if it was not accepted or did not decode; `nil` without a response.
        public let statusCode: Int?
        /// The number of attempts that were begun: 1 without a retry, 0 if the call ended before it had a request.
        public let attemptCount: Int
        /// The exchanges of the call that have ended, including retries and redirects, in the order of
        /// ``PipelineResponse/exchanges``.
        ///
        /// Empty if a plugin made the response, or if the call got it from the exchange of another call.
        public let exchanges: [PipelineExchange]
        /// What plugins did to the call, in order; see ``PipelineContext/annotate(_:by:duration:)``.
        public let annotations: [PipelineContext.Annotation]
        /// The number of bytes in the response's body, after decoding if a plugin decodes it.
        ///
        /// For a stream, only bytes that were read count; 0 without a response.
        public let receivedByteCount: Int
        /// The time from the start of the call to its end, on ``PipelineContext/clock``.
        public let duration: Duration
        /// The time from the start of the call to the header fields of its last response; `nil` if no exchange had a
        /// response, or if the transport delivered header fields and body together.
        public let timeToFirstByte: Duration?
        /// What the call spent its time on; `nil` unless ``ProviderConfiguration/timeline`` is `true`.
        public let timeline: Timeline?
    }
}
