extension PipelineResponse {
    /// Where a response came from.
    public struct Source: RawRepresentable, Sendable, Hashable {
        /// The name of the source, such as `network`.
        public let rawValue: String

        /// Makes a source from a name, such as that of a plugin.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The transport, over the network.
        public static let network = Source(rawValue: "network")
        /// A cache that stored the response of an earlier exchange.
        public static let cache = Source(rawValue: "cache")
        /// A replacement for a response that could not be obtained.
        public static let fallback = Source(rawValue: "fallback")
    }
}

/// Identifies the responses that the wire returned within a hop.
final class HopToken: Sendable {}
