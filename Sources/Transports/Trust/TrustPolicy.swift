import Foundation
public import PipelineCore

/// The servers that a transport trusts, by host: authorities, pinned keys and TLS versions.
///
/// ```swift
/// let trust = TrustPolicy([
///     "api.example.com": .system.pinned(to: [current, backup], until: expiry),
///     "*.internal.example.com": try .authorities(pem: authority).minimumTLSVersion(.v1_3),
///     "new.example.com": .system.pinned(to: [next, backup], mode: .audit),
/// ]) { report in
///     monitor.record(report)
/// }
/// let transport = AsyncHTTPClientTransport(trust: trust)
/// ```
///
/// **Effects**
///
/// - The rule of the most specific pattern that matches the host applies. Hosts without a rule are trusted as the
///   transport is configured.
/// - A certificate is always verified: its authority, its dates and its host. Pins come on top.
/// - A pin is compared with the key of the server's own certificate, once for each connection and before any part of a
///   request is written. A mismatch in audit mode, and pins that have expired, are reported once for each connection.
///   A rejected pin is reported once for each request that fails.
/// - A request over http to a host with enforced pins fails with `tls.pin`, and nothing is sent.
/// - Each report also becomes an annotation of the exchange that first used the connection or failed, with the
///   transport's name and the outcome, so that logs show it.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | authorities | those of the transport, usually the system's |
/// | pins | none |
/// | `until` | never |
/// | `mode` | ``PinMode/enforce`` |
/// | minimum TLS version | that of the transport: TLS 1.2, or with `URLSessionTransport` on Linux that of the machine |
///
/// **Errors**
///
/// | code | when |
/// |---|---|
/// | `tls.pin` | no pin matches the key of the server; the reason names the host and the seen pin |
/// | `tls.configuration` | an authority cannot be read |
/// | `unsupported.pinning`, `unsupported.authorities`, `unsupported.minimumTLSVersion` | the transport cannot apply the rule of the host; nothing is sent |
///
/// **Secrets**: errors and reports contain the hash of a public key and nothing else of a certificate.
public struct TrustPolicy: Sendable {
    let rules: [HostPattern: Rule]
    let report: (@Sendable (TrustPolicy.Report) -> Void)?
    /// The time that decides whether pins have expired; tests replace it.
    var now: @Sendable () -> Date = { Date() }

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - rules: the rules by host.
    ///   - report: receives pins that did not match or have expired. It is called on a thread of the transport and must
    ///     not block.
    public init(_ rules: [HostPattern: Rule], report: (@Sendable (TrustPolicy.Report) -> Void)? = nil) {
        self.rules = rules
        self.report = report
    }

    /// A policy without rules: every host is trusted as the transport is configured.
    public static let system = TrustPolicy([:])
}

extension TrustPolicy {
    /// What happens if no pin matches.
    public struct PinMode: Sendable, Hashable {
        private let name: String
        /// The connection is closed, and the request fails with `tls.pin`.
        public static let enforce = Self(name: "enforce")
        /// The connection is used, and the mismatch is reported.
        public static let audit = Self(name: "audit")
    }

    /// The lowest version of TLS that a connection may use.
    public struct TLSVersion: Sendable, Hashable {
        let minor: Int
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// TLS 1.2 and later.
        public static let v1_2 = Self(minor: 2)
        // swift-format-ignore: AlwaysUseLowerCamelCase
        /// TLS 1.3 and later.
        public static let v1_3 = Self(minor: 3)
    }
}
