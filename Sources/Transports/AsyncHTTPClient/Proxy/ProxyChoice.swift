#if AsyncHTTPClient
import HTTPTypes
import PipelineCore

/// The proxy that applies to a request.
struct ProxyChoice: Sendable, Hashable {
    let route: AsyncHTTPClientTransport.ProxyPolicy.Route
    /// What messages call the proxy; contains no credential, and nothing of the value of a variable.
    let name: String
}

/// The source of the proxies of a transport.
struct ProxyChoices: Sendable {
    private typealias Route = AsyncHTTPClientTransport.ProxyPolicy.Route

    private enum Source {
        case environment(ProxyVariables)
        case proxy(Route, ProxyExceptions)
        case rules(HostRules<Route>)
    }

    /// A proxy before it is checked.
    private struct Candidate {
        /// The proxy, or `nil` if the variable that applies has another form.
        let route: Route?
        let name: String
        /// What to do if the proxy must not receive a credential.
        let remedy: String
    }

    private let source: Source

    /// Returns `nil` if the configuration has the only proxy.
    init?(_ policy: AsyncHTTPClientTransport.ProxyPolicy, _ machine: Machine) {
        switch policy.kind {
        case .configuration: return nil
        case .environment(let variables): source = .environment(variables ?? machine.proxyVariables())
        case .proxy(let route, let exceptions): source = .proxy(route, exceptions)
        case .rules(let rules): source = .rules(rules)
        }
    }

    /// Returns the proxy for a request, or `nil` if it goes to the server directly.
    ///
    /// - Throws: `PipelineError` with code `invalidRequest` if the proxy cannot be used or must not get the request.
    func choice(for request: PipelineRequest) throws -> ProxyChoice? {
        guard let choice = find(request.head.scheme ?? "", request.head.authority ?? "") else { return nil }
        if case .environment(let variables) = source {
            if let failure = ProxyVariables.failure(of: request, { variables }) { throw failure }
        } else if request.head.scheme == "http", request.loopbackAuthority != nil, request.carriesCredential {
            throw PipelineError(
                .invalidRequest(.credential),
                "\(choice.name) would receive the credential of a loopback request in clear text; \(choice.remedy)"
            )
        }
        guard let route = choice.route else {
            throw PipelineError(
                .invalidRequest(.authority),
                """
                \(choice.name) cannot be used: write http://host:port, https://host:port or socks5://host:port, with \
                user:password@ before the host if it needs a credential
                """
            )
        }
        guard route.hasValidCredential else {
            throw PipelineError(
                .invalidRequest(.credential),
                """
                \(choice.name) has a user name or a password that cannot be sent: a colon in the user name, a control \
                character, or for SOCKS5 not 1 to 255 bytes
                """
            )
        }
        return ProxyChoice(route: route, name: choice.name)
    }

    private func find(_ scheme: String, _ authority: String) -> Candidate? {
        let host = ProxyVariables.host(of: authority)
        let (route, remedy): (Route, String)
        switch source {
        case .environment(let variables):
            let setting = variables.setting(forScheme: scheme, authority: authority, isForCurl: false)
            return setting.map { setting in
                Candidate(route: Route(setting.value), name: "the proxy in \(setting.variable)", remedy: "")
            }
        case .proxy(let proxy, let exceptions):
            guard !exceptions.contains(host, port: ProxyVariables.port(of: authority, scheme)) else { return nil }
            (route, remedy) = (proxy, "add \(host) to the exceptions")
        case .rules(let rules):
            guard let rule = rules.value(for: host) else { return nil }
            (route, remedy) = (rule, "add the rule \"\(host)\": .direct")
        }
        return route.kind == .direct ? nil : Candidate(route: route, name: "the \(route)", remedy: remedy)
    }
}
#endif
