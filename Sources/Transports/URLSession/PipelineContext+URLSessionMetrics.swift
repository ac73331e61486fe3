#if !canImport(FoundationNetworking)
import Foundation
import PipelineCore

extension PipelineContext {
    /// Reports the connection and the phases that a session has measured, as dates, for an exchange that has ended.
    func report(_ metrics: URLSessionTaskTransactionMetrics) {
        guard metrics.resourceFetchType == .networkLoad else { return }
        let (now, date) = (clock.now, Date())
        func instant(_ moment: Date?) -> PipelineClock.Instant? {
            moment.map { now.advanced(by: .seconds($0.timeIntervalSince(date))) }
        }
        func range(_ start: Date?, _ end: Date?) -> Range<PipelineClock.Instant>? {
            guard let start = instant(start), let end = instant(end), start <= end else { return nil }
            return start..<end
        }
        if let connected = instant(metrics.requestStartDate) {
            report(.connection(PipelineExchange.Connection(metrics), at: connected))
        }
        guard observesPhases else { return }
        let phases = PipelineContext.TransportReport.phases { phases in
            phases.connectionAwaited = instant(metrics.fetchStartDate)
            phases.domainLookup = range(metrics.domainLookupStartDate, metrics.domainLookupEndDate)
            phases.connect = range(
                metrics.connectStartDate,
                metrics.secureConnectionStartDate ?? metrics.connectEndDate
            )
            phases.secureConnection = range(metrics.secureConnectionStartDate, metrics.secureConnectionEndDate)
            phases.requestSent = instant(metrics.requestEndDate)
            phases.responseBegan = instant(metrics.responseStartDate)
        }
        report(phases)
    }
}

extension PipelineExchange.Connection {
    fileprivate init(_ metrics: URLSessionTaskTransactionMetrics) {
        // The names of ALPN: http/1.1, h2, h3.
        let version = metrics.networkProtocolName.map { name in
            name.hasPrefix("http/") ? String(name.dropFirst(5)) : name.hasPrefix("h") ? String(name.dropFirst()) : name
        }
        self.init(
            protocolVersion: version,
            peerAddress: metrics.remoteAddress,
            peerPort: metrics.remotePort,
            localPort: metrics.localPort,
            isReused: metrics.isReusedConnection
        )
    }
}
#endif
