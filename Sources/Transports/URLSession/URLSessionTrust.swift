import Foundation
import HTTPTypes
import PipelineCore

/// The trust rules and client identities of a session.
struct URLSessionTrust: Sendable {
    let rules: HostRules<TrustPolicy.Rule>
    let policy: TrustPolicy
    let identities: ClientIdentities?
    let name = "URLSessionTransport"

    /// Returns `nil` without rules and identities.
    init?(_ policy: TrustPolicy, _ identities: ClientIdentities?) {
        guard !policy.rules.isEmpty || identities != nil else { return nil }
        rules = HostRules(policy.rules)
        self.policy = policy
        self.identities = identities
    }

    /// Checks whether a request may be sent.
    ///
    /// - Throws: `PipelineError` with code `unsupported` if the session cannot apply the settings of the host, and
    ///   `tls.pin` if the host is pinned and the request is not sent over TLS.
    func check(_ request: PipelineRequest) throws {
        let host = request.ruleHost
        let isSecure = request.head.scheme == "https"
        let rule = rules.value(for: host)
        var missing = rule.map(Self.missing) ?? []
        if isSecure, let identity = identities?.identity(for: host), !Self.canPresent(identity) {
            missing.append(.clientIdentity)
        }
        if let capability = missing.first {
            let code = PipelineError.Code.unsupported(capability)
            throw PipelineError(code, "\(Self.problem(capability, [host])); \(Self.remedy(capability))")
        }
        if let rule { try policy.checkTLS(of: request, rule) }
    }

    /// The settings that the session cannot apply.
    var unsupportedSettings: [UnsupportedSetting] {
        var hosts: [PipelineError.Code.Capability: [String]] = [:]
        for (pattern, rule) in policy.rules {
            for capability in Self.missing(rule) { hosts[capability, default: []].append("\(pattern)") }
        }
        for (pattern, identity) in identities?.all ?? [:] where !Self.canPresent(identity) {
            hosts[.clientIdentity, default: []].append("\(pattern)")
        }
        return hosts.map { capability, hosts in
            UnsupportedSetting(
                code: .unsupported(capability),
                problem: Self.problem(capability, hosts.sorted()),
                remedy: Self.remedy(capability)
            )
        }
        .sorted { $0.code.rawValue < $1.code.rawValue }
    }

    private static func missing(_ rule: TrustPolicy.Rule) -> [PipelineError.Code.Capability] {
        var missing: [PipelineError.Code.Capability] = []
        #if canImport(FoundationNetworking)
        if rule.pins != nil { missing.append(.pinning) }
        if rule.authorities != nil { missing.append(.authorities) }
        #endif
        if rule.minimumTLSVersion != nil { missing.append(.minimumTLSVersion) }
        return missing
    }

    private static func canPresent(_ identity: ClientIdentity) -> Bool {
        #if canImport(FoundationNetworking)
        false
        #else
        if case .pem = identity.source { false } else { true }
        #endif
    }

    private static func problem(_ capability: PipelineError.Code.Capability, _ hosts: [String]) -> String {
        let what =
            switch capability {
            case .pinning: "cannot check pins on this platform"
            case .authorities: "cannot trust own authorities on this platform"
            case .minimumTLSVersion: "has no minimum TLS version for a single host"
            default: "cannot present this client identity on this platform"
            }
        return "URLSessionTransport \(what), which \(hosts.joined(separator: ", ")) needs"
    }

    private static func remedy(_ capability: PipelineError.Code.Capability) -> String {
        #if !canImport(FoundationNetworking)
        if capability == .clientIdentity {
            return "provide the identity as PKCS#12 or from the Keychain, or use AsyncHTTPClientTransport"
        }
        #endif
        return "use AsyncHTTPClientTransport"
    }
}
