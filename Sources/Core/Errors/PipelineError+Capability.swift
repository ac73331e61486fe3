extension PipelineError.Code {
    /// Returns the code of a setting that needs a capability that the transport does not have; nothing was sent.
    public static func unsupported(_ capability: Capability) -> Self { Self(.unsupported, capability.rawValue) }

    /// A capability that a setting needs and a transport may not have.
    public struct Capability: Sendable, Hashable {
        /// The text after the full stop.
        let rawValue: String
        /// Makes a capability; transports may define their own.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Pinning the key of a server.
        public static let pinning = Self(rawValue: "pinning")
        /// Trusting authorities other than the system's.
        public static let authorities = Self(rawValue: "authorities")
        /// Presenting a client certificate.
        public static let clientIdentity = Self(rawValue: "clientIdentity")
        /// Setting the minimum version of TLS for a host.
        public static let minimumTLSVersion = Self(rawValue: "minimumTLSVersion")
    }
}

extension PipelineError.Code.Kind {
    /// The transport does not have a capability that a setting needs; nothing was sent.
    public static let unsupported = Self("unsupported")
}
