#if AsyncHTTPClient
import Foundation
import NIOCore
import NIOSSL
import PipelineCore

/// The check of a server's key on each new connection of a client.
struct AsyncHTTPClientPinCheck: Sendable {
    /// What a connection has to report; an error if the connection must not be used.
    struct Finding: Error {
        let outcome: TrustPolicy.Report.Outcome
        let seenPin: TrustPolicy.Pin?
    }

    /// A handler that keeps what a connection has to report until the first exchange on it takes it.
    final class Mark: ChannelInboundHandler {
        typealias InboundIn = NIOAny

        private var finding: Finding?

        init(_ finding: Finding) { self.finding = finding }

        /// Takes the finding of a connection; on HTTP/2, that of the connection to which a stream belongs.
        static func take(on channel: any Channel) -> Finding? {
            let mark = try? (channel.parent ?? channel).pipeline.syncOperations.handler(type: Mark.self)
            return mark?.finding.take()
        }
    }

    let pins: PinSet
    let now: @Sendable () -> Date

    /// Checks a connection whose handshake is complete and that has not carried a request.
    ///
    /// AsyncHTTPClient gives up a connection if this throws, but leaves it open.
    ///
    /// - Throws: `Finding` if the connection must not be used. A connection without TLS has no key.
    func check(_ pipeline: ChannelPipeline.SynchronousOperations, on channel: any Channel) throws {
        let seenPin = (try? pipeline.nioSSL_peerCertificate()).flatMap { try? $0.extractPublicKey().toSPKIBytes() }
            .map { TrustPolicy.Pin(subjectPublicKeyInfo: $0) }
        guard let outcome = pins.outcome(of: seenPin, at: now()) else { return }
        let finding = Finding(outcome: outcome, seenPin: seenPin)
        guard outcome == .rejected else { return try pipeline.addHandler(Mark(finding), position: .last) }
        // Not within this turn, in which AsyncHTTPClient learns of the failure.
        channel.eventLoop.execute { channel.close(promise: nil) }
        throw finding
    }
}
#endif
