#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import NIOPosix
import PipelineCore

/// The clients of a transport: for each trust rule and for all other hosts, one that connects as configured, and one
/// for each proxy of the transport's policy.
///
/// An AsyncHTTPClient client has one proxy for all hosts and both schemes, and checks all its connections alike.
struct AsyncHTTPClientRoutes: Sendable {
    private let general: AsyncHTTPClientClients
    private let ruled: HostRules<(rule: TrustPolicy.Rule, clients: AsyncHTTPClientClients)>
    /// `nil` if no proxy but that of the configuration can apply.
    private let choices: ProxyChoices?
    /// `nil` without rules and identities.
    let trust: AsyncHTTPClientTrust?

    /// Uses a client that belongs to the caller.
    init(shared client: HTTPClient) {
        general = AsyncHTTPClientClients(shared: client)
        ruled = HostRules([:])
        choices = nil
        trust = nil
    }

    /// Creates the transport's own clients.
    init(
        _ configuration: HTTPClient.Configuration,
        _ policy: AsyncHTTPClientTransport.ProxyPolicy,
        _ trust: AsyncHTTPClientTrust,
        _ machine: Machine,
        headLimit: Duration
    ) {
        choices = ProxyChoices(policy, machine)
        precondition(
            choices == nil || configuration.proxy == nil,
            "configuration.proxy is set, so proxies cannot come from elsewhere"
        )
        let settings = AsyncHTTPClientSettings(
            configuration: configuration,
            relayConfiguration: configuration,
            headLimit: TimeAmount(headLimit),
            group: trust.usesNIOSSL ? MultiThreadedEventLoopGroup.singleton : HTTPClient.defaultEventLoopGroup
        )
        general = AsyncHTTPClientClients(settings)
        ruled = trust.rules(configuration) { rule, configuration, check in
            var settings = settings
            (settings.configuration, settings.pinCheck) = (configuration, check)
            return (rule, AsyncHTTPClientClients(settings))
        }
        self.trust = trust.usesNIOSSL ? trust : nil
    }

    /// Returns the client for a request.
    ///
    /// - Throws: `PipelineError` with code `invalidRequest`, `tls.pin`, `clientClosed` or `transport`.
    func client(for request: PipelineRequest) async throws -> AsyncHTTPClientHandle {
        let clients = try clients(for: request)
        return try await clients.client(for: choices?.choice(for: request))
    }

    private func clients(for request: PipelineRequest) throws -> AsyncHTTPClientClients {
        guard let trust, let ruled = ruled.value(for: request.ruleHost) else { return general }
        try trust.policy.checkTLS(of: request, ruled.rule)
        return ruled.clients
    }

    func shutdown() async throws {
        var failure: (any Error)?
        for clients in [general] + ruled.values.map(\.clients) {
            for client in await clients.close() {
                do { try await client.shutdown() } catch { failure = failure ?? error }
            }
        }
        if let failure { throw failure }
    }
}
#endif
