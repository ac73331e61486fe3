import AsyncHTTPClient
import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("TLS: the name in the URL and the names in the certificate", .besideTLSServers, .realTime, .watched)
struct TLSNameTests {
    /// The clients that a server must not deceive.
    enum Client: String, CaseIterable {
        case urlSession, http1, http2, shared
    }

    /// Which URLs the certificate of a server is for.
    struct Names: CustomTestStringConvertible {
        let server: String
        let isForName: Bool
        let isForAddress: Bool
        var testDescription: String { server }
    }

    private static let certificates = [
        Names(server: "ADDRESS", isForName: false, isForAddress: true),
        Names(server: "OTHER_NAME", isForName: false, isForAddress: true),
        Names(server: "NAME", isForName: true, isForAddress: false),
        Names(server: "ADDRESS_AS_NAME", isForName: false, isForAddress: false),
        Names(server: "WILDCARD", isForName: false, isForAddress: false),
        Names(server: "COMMON_NAME", isForName: false, isForAddress: false),
        Names(server: "HTTP1", isForName: true, isForAddress: true),
    ]

    @Test(
        "G01: a certificate is accepted only for the name or the address in the URL, whatever the name resolves to",
        arguments: Client.allCases,
        certificates
    )
    func certificate(client: Client, names: Names) async throws {
        guard client != .urlSession || TLSServers.isTrustedBySystem else { return }
        var configuration = try SecureTransport.makeConfiguration()
        if client == .http1 { configuration.httpVersion = .http1Only }
        let shared = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        let transport: any Transport =
            switch client {
            case .urlSession: URLSessionTransport()
            case .http1, .http2: AsyncHTTPClientTransport(configuration: configuration)
            case .shared: AsyncHTTPClientTransport(client: shared)
            }
        let provider = Provider<SecureTarget>(transport: transport)
        let port = try #require(TLSServers.url(names.server).port)
        for (host, isValid) in [("localhost", names.isForName), ("127.0.0.1", names.isForAddress)] {
            // The TLS library of URLSession on Linux falls back on the common name.
            let isLenient = client == .urlSession && names.server == "COMMON_NAME" && host == "localhost"
            let url = try #require(URL(string: "https://\(host):\(port)"))
            // Twice, because a connection that was refused must not be used again.
            for _ in 0..<2 {
                do {
                    let response = try await provider.request(SecureTarget(baseURL: url, path: "/echo"))
                    #expect(isValid || isLenient)
                    #expect(response.statusCode == 200)
                } catch let error as PipelineError {
                    #expect(!isValid, "\(String(describing: error.underlyingError))")
                    // A shared client may use a connection that is being closed because of the call before.
                    #expect(error.code == .tls(.hostName) || client == .shared && error.code == .connectionLost)
                }
            }
        }
        try await shared.shutdown()
    }

    @Test(
        "G01: nothing of a request reaches a server whose certificate does not name the host",
        arguments: [false, true]
    )
    func nothingSent(isUpload: Bool) async throws {
        let provider = Provider<SecureTarget>(transport: try SecureTransport.asyncHTTPClient.make())
        let port = try #require(TLSServers.url("ADDRESS_LOG").port)
        let canary = "canary-\(UUID().uuidString)"
        var target = SecureTarget(baseURL: try #require(URL(string: "https://localhost:\(port)")), path: "/\(canary)")
        if isUpload {
            target.method = .put
            target.task = .requestData(Data(canary.utf8))
        }
        target.headers = ["Authorization": canary]
        #expect(await provider.failure(target)?.code == .tls(.hostName))
        #expect(!(try TLSServers.log(of: "ADDRESS_LOG")).contains(canary))
    }
}
