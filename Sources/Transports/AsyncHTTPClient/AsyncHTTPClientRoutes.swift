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
    private struct Ruled: Sendable {
        let rule: TrustPolicy.Rule
        let paths: AsyncHTTPClientPaths
    }

    private let general: AsyncHTTPClientPaths
    private let ruled: HostRules<Ruled>
    /// `nil` if no proxy but that of the configuration can apply.
    private let choices: ProxyChoices?
    /// `nil` without rules and identities.
    let trust: AsyncHTTPClientTrust?

    /// Uses a client that belongs to the caller.
    init(shared client: HTTPClient) {
        general = AsyncHTTPClientPaths(shared: client)
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
        let choices = ProxyChoices(policy, machine)
        precondition(
            choices == nil || configuration.proxy == nil,
            "configuration.proxy is set, so proxies cannot come from elsewhere"
        )
        let limit = TimeAmount(headLimit)
        var settings = AsyncHTTPClientSettings(configuration: configuration, headLimit: limit)
        if trust.usesNIOSSL { settings.group = MultiThreadedEventLoopGroup.singleton }
        let relay = choices.map { _ in configuration }
        general = AsyncHTTPClientPaths(settings, relay: relay)
        ruled = trust.rules(configuration) { [group = settings.group] rule, configuration, check in
            let settings = AsyncHTTPClientSettings(
                configuration: configuration,
                headLimit: limit,
                group: group,
                pinCheck: check
            )
            return Ruled(rule: rule, paths: AsyncHTTPClientPaths(settings, relay: relay))
        }
        self.choices = choices
        self.trust = trust.usesNIOSSL ? trust : nil
    }

    /// Returns the client for a request.
    ///
    /// - Throws: `PipelineError` with code `invalidRequest`, `tls.pin`, `clientClosed` or `transport`.
    func client(for request: PipelineRequest) async throws -> AsyncHTTPClientLease {
        let paths = try paths(for: request)
        guard let (choice, route) = try choices?.choice(for: request) else { return paths.direct }
        return try await paths.client(for: choice, route)
    }

    private func paths(for request: PipelineRequest) throws -> AsyncHTTPClientPaths {
        guard let trust, let ruled = ruled.value(for: request.ruleHost) else { return general }
        try trust.check(request, ruled.rule)
        return ruled.paths
    }

    func shutdown() async throws {
        var failure: (any Error)?
        for paths in [general] + ruled.values.map(\.paths) {
            do { try await paths.shutdown() } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }
}
#endif
