import HTTPTypes
public import PipelineCore
import Synchronization

/// The client identities of a transport by host, which can be replaced while the transport is in use.
///
/// ```swift
/// let identities = ClientIdentities(["bank.example.com": identity])
/// let transport = AsyncHTTPClientTransport(identities: identities)
/// identities.set(renewed, for: "bank.example.com")
/// ```
///
/// **Effects**
///
/// - The identity of the most specific pattern that matches the host is presented if the server requests one. No other
///   host receives it, and neither does a proxy.
/// - With ``AsyncHTTPClientTransport``, a request that starts after ``set(_:for:)`` uses the new identity, and never a
///   connection that was opened with the old one. With ``URLSessionTransport``, only new connections do: a request may
///   use an open connection with the old identity. Exchanges in progress keep their connections.
///
/// **Errors**: `unsupported.clientIdentity` if the transport cannot present the identity of the host; nothing is sent.
public final class ClientIdentities: Sendable {
    private struct State {
        var identities: [HostPattern: ClientIdentity]
        var rules: HostRules<ClientIdentity>
    }

    private let state: Mutex<State>

    /// Creates a collection of identities, by default an empty one.
    public init(_ identities: [HostPattern: ClientIdentity] = [:]) {
        state = Mutex(State(identities: identities, rules: HostRules(identities)))
    }

    /// Replaces the identity of a pattern, or removes it if `identity` is `nil`.
    public func set(_ identity: ClientIdentity?, for pattern: HostPattern) {
        state.withLock { state in
            state.identities[pattern] = identity
            state.rules = HostRules(state.identities)
        }
    }

    func identity(for host: String) -> ClientIdentity? { state.withLock { $0.rules }.value(for: host) }

    /// Returns a text that differs for each identity that a server may see; `nil` without one.
    func name(for request: PipelineRequest) -> String? {
        guard request.head.scheme == "https" else { return nil }
        return identity(for: request.ruleHost)?.fingerprint
    }

    /// The identities by pattern.
    var all: [HostPattern: ClientIdentity] { state.withLock { $0.identities } }
}

extension ClientIdentities: SafelyDescribed {
    /// The patterns, without the identities.
    public var description: String {
        "ClientIdentities(\(all.keys.map(\.description).sorted().joined(separator: ", ")))"
    }
}
