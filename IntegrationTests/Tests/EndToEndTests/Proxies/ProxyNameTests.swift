import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Proxies: the names of the proxy and of the server", .besideProxies, .tags(.concurrent), .realTime, .watched)
struct ProxyNameTests {
    /// Which of `localhost` and `127.0.0.1` the certificate of an HTTPS proxy or of a server is for.
    struct Names: CustomTestStringConvertible {
        let name: String
        let isForName: Bool
        let isForAddress: Bool
        var testDescription: String { name }
        var hosts: [(String, Bool)] { [("localhost", isForName), ("127.0.0.1", isForAddress)] }
    }

    private static let certificates = [
        Names(name: "ADDRESS", isForName: false, isForAddress: true),
        Names(name: "OTHER_NAME", isForName: false, isForAddress: true),
        Names(name: "NAME", isForName: true, isForAddress: false),
        Names(name: "WILDCARD", isForName: false, isForAddress: false),
        Names(name: "COMMON_NAME", isForName: false, isForAddress: false),
    ]

    private func failure(_ policy: ProxyPeer.Policy, _ url: URL) async throws -> PipelineError? {
        let provider = Provider<SecureTarget>(transport: try ProxyPeer.makeTransport(policy))
        return await provider.failure(SecureTarget(baseURL: url, path: "/echo"))
    }

    @Test(
        "G01: an HTTPS proxy needs a certificate for its name or address in the settings, whatever the name resolves to",
        arguments: certificates
    )
    func proxy(names: Names) async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        defer { server.stop() }
        let port = ProxyPeer.port(of: "SQUID_" + names.name)
        for (host, isValid) in names.hosts {
            let route = ProxyPeer.Policy.Route.https(host: host, port: port, credential: ProxyPeer.credential)
            for url in [server.url, SecureServer.http2.url, SecureServer.http1.url] {
                let error = try await failure(.proxy(route), url)
                #expect(error?.code == (isValid ? nil : .tls(.hostName)))
                #expect(isValid || error?.reason.contains("\(host):\(port)") == true)
            }
        }
    }

    @Test("G01: nothing is sent to an HTTPS proxy whose certificate does not name it")
    func nothingSent() async throws {
        let port = try #require(TLSServers.url("ADDRESS_LOG").port)
        let canary = "canary-\(UUID().uuidString)"
        let credential = ProxyPeer.Policy.Credential(username: canary, password: canary)
        let route = ProxyPeer.Policy.Route.https(host: "localhost", port: port, credential: credential)
        let url = try #require(URL(string: "https://\(canary).test"))
        #expect(try await failure(.proxy(route), url)?.code == .tls(.hostName))
        let log = try TLSServers.log(of: "ADDRESS_LOG")
        #expect(!log.contains(canary) && !log.contains(Data("\(canary):\(canary)".utf8).base64EncodedString()))
    }

    @Test(
        "G01: behind a proxy, a server needs a certificate for the host in the URL; its address is the proxy's or the relay's",
        arguments: ProxyPeer.allCases,
        certificates
    )
    func server(peer: ProxyPeer, names: Names) async throws {
        let port = try #require(TLSServers.url(names.name).port)
        for (host, isValid) in names.hosts {
            let url = try #require(URL(string: "https://\(host):\(port)"))
            #expect(try await failure(.proxy(peer.route()), url)?.code == (isValid ? nil : .tls(.hostName)))
        }
    }
}
