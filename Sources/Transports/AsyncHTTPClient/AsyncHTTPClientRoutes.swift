#if AsyncHTTPClient
import AsyncHTTPClient
import HTTPTypes
import Pipeline

/// The clients of a transport: one that connects as configured, and one for each proxy in the environment.
///
/// An AsyncHTTPClient client has one proxy for all hosts and both schemes.
struct AsyncHTTPClientRoutes: Sendable {
    private let direct: AsyncHTTPClientLease
    private let variables: ProxyVariables
    /// The client of each setting; `nil` for a proxy that cannot be used.
    private let proxied: [ProxyVariables.Setting: AsyncHTTPClientLease?]

    /// Uses a client that belongs to the caller.
    init(shared client: HTTPClient) {
        direct = AsyncHTTPClientLease(sharing: client)
        variables = ProxyVariables([:])
        proxied = [:]
    }

    /// Creates the transport's own clients.
    init(
        _ configuration: HTTPClient.Configuration,
        _ policy: AsyncHTTPClientTransport.ProxyPolicy,
        _ machine: Machine
    ) {
        direct = AsyncHTTPClientLease(makingClientWith: configuration)
        guard case .environment(let variables) = policy.kind else {
            self.variables = ProxyVariables([:])
            proxied = [:]
            return
        }
        precondition(
            configuration.proxy == nil,
            "configuration.proxy is set, so proxies cannot come from the environment"
        )
        self.variables = variables ?? machine.proxyVariables()
        var proxied: [ProxyVariables.Setting: AsyncHTTPClientLease?] = [:]
        for setting in Set(["http", "https"].compactMap(self.variables.setting(forScheme:))) {
            var configuration = configuration
            configuration.proxy = ProxyAddress(setting.value)?.proxy
            proxied.updateValue(
                configuration.proxy == nil ? nil : AsyncHTTPClientLease(makingClientWith: configuration),
                forKey: setting
            )
        }
        self.proxied = proxied
    }

    /// Returns the client for a request.
    ///
    /// - Throws: `PipelineError` with code `invalidRequest`.
    func client(for request: PipelineRequest) throws -> AsyncHTTPClientLease {
        guard !proxied.isEmpty,
            let setting = variables.setting(
                forScheme: request.head.scheme ?? "",
                authority: request.head.authority ?? ""
            )
        else { return direct }
        if let failure = ProxyVariables.failure(of: request, { variables }) { throw failure }
        guard let client = proxied[setting] ?? nil else {
            throw PipelineError(
                .invalidRequest(.authority),
                "the proxy in \(setting.variable) cannot be used: write http://host:port or socks5://host:port"
            )
        }
        return client
    }

    func shutdown() async throws {
        try await direct.shutdown()
        for case let client? in proxied.values { try await client.shutdown() }
    }
}

extension ProxyAddress {
    /// The proxy as AsyncHTTPClient's type, or `nil` if AsyncHTTPClient does not support this kind.
    fileprivate var proxy: HTTPClient.Configuration.Proxy? {
        switch (scheme, credential) {
        case ("http", let credential):
            .server(
                host: host,
                port: port,
                authorization: credential.map { .basic(username: $0.user, password: $0.password) }
            )
        case ("socks5", nil), ("socks5h", nil):
            .socksServer(host: host, port: port)
        default:
            nil
        }
    }
}
#endif
