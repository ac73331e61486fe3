import PipelineCore

extension TrustPolicy {
    /// A pin that did not match, or that was no longer enforced.
    public struct Report: Sendable, Hashable {
        /// What the transport did.
        public struct Outcome: Sendable, Hashable, CustomStringConvertible {
            /// The outcome as one word, which is also the event of the exchange's annotation.
            public let description: String

            /// No pin matched, so the connection was closed, and the request failed with `tls.pin`.
            public static let rejected = Self(description: "pinRejected")
            /// No pin matched, and the connection was used, because the pins are in audit mode.
            public static let audited = Self(description: "pinAudited")
            /// The pins have expired and were not enforced, whether they match or not.
            public static let expired = Self(description: "pinsExpired")
        }

        /// The host of the request.
        public let host: String
        /// The pin of the server's key; `nil` if the key cannot be read.
        public let seenPin: TrustPolicy.Pin?
        /// What the transport did.
        public let outcome: Outcome
    }
}

extension TrustPolicy.Report: CustomStringConvertible {
    /// The host, the outcome and the pin.
    public var description: String {
        "\(host): \(outcome), seen \(seenPin.map { "\($0)" } ?? "no readable key")"
    }
}

extension PipelineError {
    /// Returns the error of a key that has no pin.
    static func pin(_ host: String, _ seen: TrustPolicy.Pin?) -> PipelineError {
        let key = seen.map { "its key has the pin \($0)" } ?? "its key cannot be read"
        return PipelineError(.tls(.pin), "no pin for \(host) matches: \(key)")
    }
}
