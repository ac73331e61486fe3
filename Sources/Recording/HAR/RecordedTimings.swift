import PipelineCore

/// How the time from the request to the header fields was spent, as far as the transport has reported it.
package struct RecordedTimings: Sendable, Equatable {
    /// The wait for a connection, without the times below.
    package var blocked: Duration?
    /// The lookup of the host's addresses.
    package var dns: Duration?
    /// The establishment of a connection, with TLS.
    package var connect: Duration?
    /// The TLS handshake, which is part of `connect`.
    package var ssl: Duration?
    /// The writing of the request.
    package var send = Duration.zero

    package init() {}

    /// Returns the parts of a time; without reports, all of it is a wait for the server.
    init(_ phases: PipelineExchange.Phases, within head: Duration) {
        func length(_ range: Range<PipelineClock.Instant>?) -> Duration? {
            range.map { $0.lowerBound.duration(to: $0.upperBound) }
        }
        dns = length(phases.domainLookup)
        ssl = length(phases.secureConnection)
        connect = phases.connect.map { connect in
            let end = phases.secureConnection?.upperBound ?? connect.upperBound
            return connect.lowerBound.duration(to: max(connect.upperBound, end))
        }
        if let awaited = phases.connectionAwaited, let connected = phases.connected {
            blocked = max(awaited.duration(to: connected) - (dns ?? .zero) - (connect ?? .zero), .zero)
        }
        // A server may respond before it has read all of the request.
        let rest = max(head - beforeSending, .zero)
        if let connected = phases.connected, let sent = phases.requestSent {
            send = min(max(connected.duration(to: sent), .zero), rest)
        }
        if beforeSending > head { self = RecordedTimings() }
    }

    private var beforeSending: Duration { (blocked ?? .zero) + (dns ?? .zero) + (connect ?? .zero) }

    /// Returns the members of HAR for an exchange.
    package func json(head: Duration, total: Duration) -> JSONNode {
        .object([
            "blocked": blocked.map(JSONNode.milliseconds),
            "dns": dns.map(JSONNode.milliseconds),
            "connect": connect.map(JSONNode.milliseconds),
            "ssl": ssl.map(JSONNode.milliseconds),
            "send": .milliseconds(send),
            "wait": .milliseconds(max(head - beforeSending - send, .zero)),
            "receive": .milliseconds(total - head),
        ])
    }
}
