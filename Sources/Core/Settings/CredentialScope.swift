/// The requests to which a plugin may add a credential.
///
/// ```swift
/// BasicAuthPlugin(username: "ann", password: password, scope: .hosts(["api.example.com"]))
/// SigningPlugin(signer, scope: .hosts(["*.example.com"]))
/// ```
///
/// A client of `URLTarget`, or of `MultiTarget`, asks several hosts, and each of them is the endpoint of its calls.
/// Name the hosts of the credential there. Otherwise, `Provider.explain()` has a finding `credential-to-every-host`,
/// with one of these severities:
///
/// | plugin | `URLTarget` | `MultiTarget`, whose hosts are those of the program's targets |
/// |---|---|---|
/// | one that sets a credential, signs, or answers challenges | leak | hint |
/// | one that sets an access token, for which each target has to ask | hint | hint |
/// | `HeadersPlugin`, whose fields may be no secret | hint | hint |
public struct CredentialScope: Sendable {
    /// `nil` for the endpoint's origin.
    private let hosts: [HostPattern]?

    /// Requests to the endpoint's own origin, until a redirect has left it.
    public static let endpoint = Self(hosts: nil)

    /// Requests to hosts that match one of the patterns on any port.
    ///
    /// Every matching host gets the credential, so it must belong to the same owner. A plugin of the hop, such as
    /// `SigningPlugin`, adds its credential also after a redirect to such a host; a credential that was added before
    /// the redirect is dropped.
    public static func hosts(_ patterns: [HostPattern]) -> Self { Self(hosts: patterns) }

    /// The capability of a plugin with this scope, which it declares among its own.
    public var capabilities: Set<PluginCapability> { hosts == nil ? [] : [.limitsHosts] }

    /// Returns whether a request may carry the credential.
    public func contains(_ request: PipelineRequest, _ context: PipelineContext) -> Bool {
        guard let hosts else { return !context.hasLeftOrigin && context.endpoint.hasOrigin(of: request) }
        let authority = request.origin.authority
        let isLiteral = authority.hasPrefix("[")
        let host = isLiteral ? String(authority.prefix { $0 != "]" }) + "]" : String(authority.prefix { $0 != ":" })
        return hosts.contains { $0.matches(host) }
    }
}

extension CleartextPolicy {
    /// Throws if the policy does not allow a request to carry a credential.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - credential: what the error calls the credential.
    /// - Throws: ``PipelineError`` with code `invalidRequest.credential`.
    public func check(_ request: PipelineRequest, carrying credential: String) throws {
        guard !allows(request) else { return }
        throw PipelineError(
            .invalidRequest(.credential),
            "\(credential) would leave over http, readable on the way; use https, or pass cleartext: .allowed to the plugin"
        )
    }
}
