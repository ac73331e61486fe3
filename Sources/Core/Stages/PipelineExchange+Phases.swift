import Synchronization

extension PipelineExchange {
    /// The moments of an exchange that its transport has reported, on ``PipelineContext/clock``.
    ///
    /// The names and meanings are those of Resource Timing, with which browsers measure.
    ///
    /// Source: W3C Resource Timing §4.4, https://www.w3.org/TR/resource-timing/
    public struct Phases: Sendable, Hashable {
        /// When the exchange began to wait for a connection.
        public var connectionAwaited: PipelineClock.Instant?
        /// When the exchange had a connection, and the request was about to be written.
        public var connected: PipelineClock.Instant?
        /// When the last byte of the request had been handed to the network.
        public var requestSent: PipelineClock.Instant?
        /// When the first byte of the response arrived, or of the first one with a status of 100 to 199.
        public var responseBegan: PipelineClock.Instant?
        /// The lookup of the host's addresses, for a new connection.
        public var domainLookup: Range<PipelineClock.Instant>?
        /// The establishment of a new connection, without TLS.
        public var connect: Range<PipelineClock.Instant>?
        /// The TLS handshake of a new connection.
        public var secureConnection: Range<PipelineClock.Instant>?
        /// The connection; `nil` if the transport does not report it.
        public var connection: PipelineExchange.Connection?

        init() {}

        /// Takes over what another value knows.
        mutating func merge(_ other: PipelineExchange.Phases) {
            connectionAwaited = other.connectionAwaited ?? connectionAwaited
            connected = other.connected ?? connected
            requestSent = other.requestSent ?? requestSent
            responseBegan = responseBegan ?? other.responseBegan
            domainLookup = other.domainLookup ?? domainLookup
            connect = other.connect ?? connect
            secureConnection = other.secureConnection ?? secureConnection
            connection = other.connection ?? connection
        }

        /// Passes on the phases of an exchange without gaps, as far as they are known.
        func forEachInterval(
            from start: PipelineClock.Instant,
            to end: PipelineClock.Instant,
            _ body: (_ name: String, _ start: PipelineClock.Instant, _ end: PipelineClock.Instant) -> Void
        ) {
            var last = start
            func add(_ name: String, until next: PipelineClock.Instant?) {
                guard let next, next >= last else { return }
                body(name, last, next)
                last = next
            }
            if connectionAwaited != nil { add("connection", until: connected ?? end) }
            if let domainLookup { body("DNS", domainLookup.lowerBound, domainLookup.upperBound) }
            if let connect { body("connect", connect.lowerBound, connect.upperBound) }
            if let secureConnection { body("TLS", secureConnection.lowerBound, secureConnection.upperBound) }
            add("send", until: requestSent)
            add("wait", until: responseBegan ?? (requestSent == nil ? nil : end))
            if responseBegan != nil { add("receive", until: end) }
        }
    }
}

extension PipelineExchange {
    /// The connection of an exchange, as far as its transport knows it.
    public struct Connection: Sendable, Hashable {
        /// The version of HTTP, such as `1.1` or `2`.
        public var protocolVersion: String?
        /// The address of the server or proxy, such as `192.0.2.1`.
        public var peerAddress: String?
        /// The port of the server or proxy.
        public var peerPort: Int?
        /// The port of this machine, which distinguishes connections.
        public var localPort: Int?
        /// Whether an earlier exchange has used the connection.
        public var isReused: Bool?

        /// Describes a connection; a value that is not known is `nil`.
        public init(
            protocolVersion: String? = nil,
            peerAddress: String? = nil,
            peerPort: Int? = nil,
            localPort: Int? = nil,
            isReused: Bool? = nil
        ) {
            self.protocolVersion = protocolVersion
            self.peerAddress = peerAddress
            self.peerPort = peerPort
            self.localPort = localPort
            self.isReused = isReused
        }
    }
}

/// The phases of an exchange while it is in progress.
final class PhaseLog: Sendable {
    private let state = Mutex(PipelineExchange.Phases())

    var phases: PipelineExchange.Phases { state.withLock { $0 } }

    func change(_ change: (inout PipelineExchange.Phases) -> Void) { state.withLock { change(&$0) } }
}
