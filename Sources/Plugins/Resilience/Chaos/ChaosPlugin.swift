import HTTPTypes
public import PipelineCore

/// A plugin that makes exchanges slow or lets them fail, for tests and staging.
///
/// ```swift
/// ChaosPlugin(.fault(.connectionLost, rate: 0.01), .status(503, rate: 0.1))
/// ChaosPlugin(.latency(.zero ... .seconds(2), rate: 0.05), hosts: .only(["staging.example.com"]))
/// ```
///
/// With a seeded `PipelineRandom` in the provider's configuration, the same exchanges fail in every run of a test whose
/// calls are made one after another.
///
/// **Effects**
///
/// - Acts only for requests to `hosts`, by default loopback addresses. Elsewhere, it does nothing and draws no random
///   numbers.
/// - Decides for each exchange which effects apply, independently of each other and of other exchanges. In this order,
///   it waits for all latencies, fails, sends the request, loses the response, replaces it, and breaks its body.
/// - Latency is a wait on the provider's clock before the request is sent. If it exceeds the attempt timeout of the
///   request, the exchange fails with `timeout.attempt` at that time.
/// - The exchanges of the call show what the network did. Without a request, there is no exchange.
/// - `context.annotations` lists each effect as `delayed`, `failed`, `lost`, `replaced` or `broken`.
/// - Keeps nothing.
///
/// **Defaults**: no effects; `hosts` is ``Hosts/loopback``.
///
/// **Position**: the innermost exchange plugin, so that breakers, limits and caches see what it does.
///
/// **Errors**: the codes of the effects, and `timeout.attempt`.
///
/// **Secrets**: none.
public struct ChaosPlugin: Stage.Exchange {
    /// The hosts whose exchanges a plugin disturbs.
    public struct Hosts: Sendable, Hashable {
        private enum Kind: Hashable {
            case loopback
            case only(Set<String>)
            case any
        }

        private let kind: Kind

        /// Loopback addresses: `localhost` and its subdomains, `127.0.0.0/8`, and `::1`.
        public static let loopback = Hosts(kind: .loopback)

        /// Every host, including those of production.
        public static let allowsAnyHost = Hosts(kind: .any)

        /// Returns the hosts with these names, in lowercase, with any port.
        public static func only(_ names: Set<String>) -> Hosts {
            precondition(!names.isEmpty, "names is empty, at least one has to be given")
            return Hosts(kind: .only(Set(names.map { $0.lowercased() })))
        }

        func contains(hostOf request: PipelineRequest) -> Bool {
            switch kind {
            case .loopback: request.isToLoopback
            case .only(let names): Self.name(of: request).map { names.contains($0) } ?? false
            case .any: true
            }
        }

        /// Returns the host without its port.
        private static func name(of request: PipelineRequest) -> String? {
            guard let host = request.host?.lowercased() else { return nil }
            guard let colon = host.lastIndex(of: ":"), !host[colon...].contains("]") else { return host }
            return String(host[..<colon])
        }
    }

    private let effects: [ChaosEffect]
    private let hosts: Hosts

    /// Makes a plugin.
    ///
    /// - Parameters:
    ///   - effects: what happens to which share of the exchanges.
    ///   - hosts: the hosts for which the plugin acts.
    public init(_ effects: ChaosEffect..., hosts: Hosts = .loopback) {
        self.effects = effects
        self.hosts = hosts
    }

    /// Sends the request, unless an effect prevents it.
    public func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        guard !effects.isEmpty, hosts.contains(hostOf: request) else { return try await send(request) }
        var random = context.random
        let plan = ChaosPlan(effects, using: &random)
        if plan.latency > .zero { try await delay(by: plan.latency, request, context) }
        if let code = plan.fault { throw error(code, "failed", "ChaosPlugin failed the exchange", context) }
        var response = try await send(request)
        if let code = plan.lostResponse { throw error(code, "lost", "ChaosPlugin lost the response", context) }
        if let status = plan.status {
            context.annotate("replaced", by: self)
            context.noteSimulation()
            return PipelineResponse(request: response.request, statusCode: status)
        }
        if let fault = plan.brokenBody, !response.body.isAbsent {
            context.annotate("broken", by: self)
            response.body = response.body.broken(fault)
        }
        return response
    }

    private func delay(by latency: Duration, _ request: PipelineRequest, _ context: PipelineContext) async throws {
        let limit = context.options.attemptTimeout ?? request.attemptTimeout
        let wait = limit.map { min($0, latency) } ?? latency
        context.annotate("delayed", by: self, duration: wait)
        try await context.clock.sleep(for: wait)
        if wait < latency {
            context.noteSimulation()
            throw PipelineError(.timeout(.attempt), "the attempt took longer than \(PipelineError.text(of: wait))")
        }
    }

    private func error(
        _ code: PipelineError.Code,
        _ event: String,
        _ reason: String,
        _ context: PipelineContext
    ) -> PipelineError {
        context.annotate(event, by: self)
        context.noteSimulation()
        return PipelineError(code, reason)
    }
}

extension ChaosPlugin: CapabilityDeclaring {
    private static let disturbs = PluginCapability("disturbs exchanges")

    /// The plugin declares a capability of its own.
    public var capabilities: Set<PluginCapability> { [Self.disturbs] }

    /// Finds a plugin that observes exchanges inside this one.
    public var orderRules: [OrderRule] {
        let observers = ["breaks circuits", "limits rates", "limits concurrency"].map { PluginCapability($0) }
        return [
            OrderRule(
                "observer-inside-chaos",
                Set(observers).union([.caches]),
                .inside,
                [Self.disturbs],
                consequence: "it does not see the failures and the latency that the outer plugin causes"
            )
        ]
    }
}
