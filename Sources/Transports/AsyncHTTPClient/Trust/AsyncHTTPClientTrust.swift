#if AsyncHTTPClient
import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOSSL
import PipelineCore

/// The trust rules and client identities of a transport.
struct AsyncHTTPClientTrust: Sendable {
    let policy: TrustPolicy
    private let identities: ClientIdentities?
    private let name = "AsyncHTTPClientTransport"

    init(_ policy: TrustPolicy, _ identities: ClientIdentities?) {
        self.policy = policy
        self.identities = identities
    }

    /// Whether the transport has rules or may have identities.
    ///
    /// If so, its clients use NIOSSL on every platform. On Apple platforms, AsyncHTTPClient otherwise uses
    /// Network.framework, which shows no certificate.
    var usesNIOSSL: Bool { !policy.rules.isEmpty || identities != nil }

    /// Makes a value for each rule, from the rule and the configuration for its hosts.
    func rules<Value>(
        _ configuration: HTTPClient.Configuration,
        _ make: (TrustPolicy.Rule, HTTPClient.Configuration, AsyncHTTPClientPinCheck?) -> Value
    ) -> HostRules<Value> {
        HostRules(
            policy.rules.mapValues { rule in
                let check = rule.pins.map { AsyncHTTPClientPinCheck(pins: $0, now: policy.now) }
                return make(rule, configuration.applying(rule), check)
            }
        )
    }

    /// Returns the client identity for a request, or `nil` if there is none or it is not sent over TLS.
    ///
    /// - Throws: `PipelineError` with code `unsupported.clientIdentity`.
    func identity(for request: PipelineRequest) throws -> ClientIdentity? {
        guard let identities, request.head.scheme == "https",
            let identity = identities.identity(for: request.ruleHost)
        else { return nil }
        guard identity.credential != nil else {
            throw PipelineError(
                .unsupported(.clientIdentity),
                """
                \(name) cannot present an identity of the Keychain to \(request.ruleHost); use URLSessionTransport, or an identity \
                from PEM or PKCS#12
                """
            )
        }
        return identity
    }

    /// Returns a text that differs for each client identity; `nil` if a request has none.
    func name(for request: PipelineRequest) -> String? { identities?.name(for: request) }

    /// The identities that cannot be presented.
    var unsupportedSettings: [UnsupportedSetting] {
        let patterns = identities?.all.filter { $0.value.credential == nil }.keys.map(\.description).sorted() ?? []
        guard !patterns.isEmpty else { return [] }
        return [
            UnsupportedSetting(
                code: .unsupported(.clientIdentity),
                problem: "\(name) cannot present an identity of the Keychain to \(patterns.joined(separator: ", "))",
                remedy: "use URLSessionTransport, or an identity from PEM or PKCS#12"
            )
        ]
    }

    /// Returns the error of a failed exchange, after reporting a pin that was rejected.
    func failure(_ error: any Error, of request: PipelineRequest, _ context: PipelineContext) -> any Error {
        guard let finding = error as? AsyncHTTPClientPinCheck.Finding else { return error }
        let host = request.ruleHost
        report(finding, host, context)
        return PipelineError.pin(host, finding.seenPin)
    }

    /// Reports to the policy's closure and to the exchange.
    func report(_ finding: AsyncHTTPClientPinCheck.Finding, _ host: String, _ context: PipelineContext) {
        context.report(.event(finding.outcome.description, of: name))
        policy.report?(TrustPolicy.Report(host: host, seenPin: finding.seenPin, outcome: finding.outcome))
    }
}

extension TLSConfiguration {
    /// Returns the configuration with a client identity.
    ///
    /// - Parameters:
    ///   - identity: the identity to present, or `nil` for that of the configuration.
    ///   - tryCount: the number of the connection that is tried. Each number has its own pool, so that a request does
    ///     not get one dead connection after another. The pools last as long as the client, so numbers are few.
    /// - Returns: the configuration.
    func presenting(_ identity: ClientIdentity?, tryCount: Int) -> TLSConfiguration {
        var configuration = self
        if let credential = identity?.credential {
            configuration.certificateChain = credential.chain.map { .certificate($0) }
            configuration.privateKey = .privateKey(credential.key)
        }
        // AsyncHTTPClient keeps connections of different configurations separate.
        if tryCount > 1 {
            configuration.shutdownTimeout = configuration.shutdownTimeout + .nanoseconds(Int64(tryCount))
        }
        return configuration
    }
}

extension HTTPClient.Configuration {
    /// Returns the configuration for hosts with a rule.
    fileprivate func applying(_ rule: TrustPolicy.Rule) -> HTTPClient.Configuration {
        var tls = tlsConfiguration ?? .makeClientConfiguration()
        if let authorities = rule.authorities {
            // They were read before; one that could not be read would not be trusted.
            let roots = authorities.compactMap { try? NIOSSLCertificate(bytes: $0, format: .der) }
            tls.trustRoots = .certificates(roots)
            tls.additionalTrustRoots = []
        }
        tls.certificateVerification = .fullVerification
        switch rule.minimumTLSVersion {
        case .some(.v1_3): tls.minimumTLSVersion = .tlsv13
        case .some where tls.minimumTLSVersion != .tlsv13: tls.minimumTLSVersion = .tlsv12
        default: break
        }
        var configuration = self
        configuration.tlsConfiguration = tls
        // Another connection would show the same key.
        if rule.pins != nil { configuration.connectionPool.retryConnectionEstablishment = false }
        return configuration
    }
}
#endif
