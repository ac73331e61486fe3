public import Foundation
import HTTPTypes
import PipelineCore

#if AsyncHTTPClient
import NIOSSL
#endif
#if canImport(Security)
import Security
#endif

extension TrustPolicy {
    /// Checks that a request to a host with enforced pins uses TLS.
    ///
    /// - Throws: `PipelineError` with code `tls.pin`.
    func checkTLS(of request: PipelineRequest, _ rule: Rule) throws {
        guard request.head.scheme != "https", let pins = rule.pins, pins.isEnforced(at: now()) else { return }
        throw PipelineError(
            .tls(.pin),
            "\(request.ruleHost) is pinned, and a request without TLS has no key to check; use https"
        )
    }

    /// What the certificate and the connection of a host must fulfil.
    public struct Rule: Sendable {
        /// The certificates of the host's own authorities in DER; `nil` for those of the transport.
        private(set) var authorities: [[UInt8]]?
        private(set) var pins: PinSet?
        private(set) var minimumTLSVersion: TLSVersion?

        /// Trusts the authorities that the transport trusts.
        public static let system = Rule()

        /// Trusts only the given authorities.
        ///
        /// - Parameter pem: one or more certificates in PEM.
        /// - Returns: the rule.
        /// - Throws: `PipelineError` with code `tls.configuration` if there is no certificate or one cannot be read. On
        ///   Linux without the package trait `AsyncHTTPClient`, no transport uses the authorities, and only the
        ///   structure of PEM is checked.
        public static func authorities(pem: some Sequence<UInt8>) throws -> Rule {
            let unreadable = PipelineError(
                .tls(.configuration),
                "the authorities cannot be read: provide one or more certificates in PEM"
            )
            guard let authorities = PEM.certificates(pem) else { throw unreadable }
            #if AsyncHTTPClient
            for bytes in authorities {
                do { _ = try NIOSSLCertificate(bytes: bytes, format: .der) } catch { throw unreadable }
            }
            #endif
            #if canImport(Security)
            for bytes in authorities where SecCertificateCreateWithData(nil, Data(bytes) as CFData) == nil {
                throw unreadable
            }
            #endif
            var rule = Rule()
            rule.authorities = authorities
            return rule
        }

        /// Returns the rule with pinned keys.
        ///
        /// - Parameters:
        ///   - pins: at least two different pins. One is a backup whose key is not in use, so that a lost key does not
        ///     lock out clients. Fewer stop the program.
        ///   - expiry: when the pins are no longer enforced, so that clients that are never updated keep working; `nil`
        ///     for never. The machine's own date decides.
        ///   - mode: what happens if no pin matches.
        /// - Returns: the rule.
        public func pinned(to pins: [TrustPolicy.Pin], until expiry: Date? = nil, mode: PinMode = .enforce) -> Rule {
            let distinct = Set(pins)
            precondition(distinct.count >= 2, "\(distinct.count) different pin, not 2 or more: add a backup pin")
            var rule = self
            rule.pins = PinSet(pins: distinct, expiry: expiry, mode: mode)
            return rule
        }

        /// Returns the rule with a minimum version of TLS.
        ///
        /// It cannot go below the minimum of the transport's configuration.
        public func minimumTLSVersion(_ version: TLSVersion) -> Rule {
            var rule = self
            rule.minimumTLSVersion = version
            return rule
        }
    }
}

/// The pins of a rule.
struct PinSet: Sendable {
    let pins: Set<TrustPolicy.Pin>
    let expiry: Date?
    let mode: TrustPolicy.PinMode

    /// Returns whether a connection without a matching pin must not be used.
    func isEnforced(at date: Date) -> Bool { mode == .enforce && !hasExpired(at: date) }

    private func hasExpired(at date: Date) -> Bool { expiry.map { date >= $0 } ?? false }

    /// Returns what a transport does with a server's key; `nil` if it has nothing to report.
    ///
    /// - Parameters:
    ///   - pin: the pin of the key; `nil` if the key cannot be read.
    ///   - date: the time of the handshake.
    /// - Returns: the outcome to report, or `nil`.
    func outcome(of pin: TrustPolicy.Pin?, at date: Date) -> TrustPolicy.Report.Outcome? {
        if hasExpired(at: date) { return .expired }
        if let pin, pins.contains(pin) { return nil }
        return mode == .enforce ? .rejected : .audited
    }
}
