import AsyncHTTPClient
import Foundation
import NIOSSL
import Pipeline
import Synchronization
import TestSupport
import Testing

@Suite("TLS: handshake failures", .besideTLSServers, .realTime, .watched)
struct TLSFailureTests {
    private static let cases: [(server: String, code: PipelineError.Code)] = [
        ("SELF_SIGNED", .tls(.certificate)), ("UNKNOWN_CA", .tls(.certificate)), ("EXPIRED", .tls(.certificate)),
        ("NOT_YET", .tls(.certificate)), ("WRONG_HOST", .tls(.hostName)), ("OLD_PROTOCOL", .tls(.handshake)),
        ("CLIENT_REQUIRED", .tls(.handshake)), ("WEAK_KEY", .tls(.certificate)), ("WEAK_SIGNATURE", .tls(.certificate)),
    ]

    private static let canary = "canary-7d20"
    /// Errors may show the path, so it has a marker of its own.
    private static let pathCanary = "path-7d20"

    private func makeTarget(_ server: String, _ task: RequestTask) throws -> SecureTarget {
        SecureTarget(
            baseURL: TLSServers.url(server).appending(queryItems: [URLQueryItem(name: "token", value: Self.canary)]),
            path: "/\(Self.pathCanary)",
            method: .put,
            task: task,
            headers: ["Authorization": "Bearer \(Self.canary)", "Idempotency-Key": "1"]
        )
    }

    @Test(
        "C04: a failed handshake has a typed error, is tried once, and sends nothing of the request",
        arguments: SecureTransport.allCases,
        cases
    )
    func failure(transport: SecureTransport, failing: (server: String, code: PipelineError.Code)) async throws {
        let provider = Provider<SecureTarget>(
            transport: try transport.make(),
            plugins: [RetryPlugin(policy: RetryPolicy { _ in .retryUnprocessed }, backoff: .constant(.zero))]
        )
        let pulls = Mutex(0)
        let body = PipelineBody.stream(byteCount: nil) {
            AsyncStream(unfolding: { @Sendable () -> Data? in
                pulls.withLock { $0 += 1 }
                return nil
            })
        }
        for task in [RequestTask.requestData(Data(Self.canary.utf8)), .requestStream(body)] {
            let error = try #require(await provider.failure(try makeTarget(failing.server, task)))
            #expect(error.code.isKind(of: .tls))
            if transport != .urlSession || TLSServers.isTrustedBySystem {
                #expect(error.code == failing.code, "\(String(describing: error.underlyingError))")
            }
            #expect(error.exchanges.count == 1)
            for text in [
                "\(error)", error.reason, error.localizedDescription, "\(String(describing: error.underlyingError))",
            ] {
                #expect(!text.contains(Self.canary), "\(text)")
            }
        }
        let log = try TLSServers.log(of: failing.server)
        #expect(!log.contains(Self.canary) && !log.contains(Self.pathCanary))
        // URLSession reads a stream before it connects. With TLS 1.3, a refusal arrives after the client's handshake.
        // A weak certificate is noticed when the request would be written.
        if transport != .urlSession, !failing.server.hasPrefix("CLIENT_REQUIRED"), !failing.server.hasPrefix("WEAK") {
            #expect(pulls.withLock { $0 } == 0)
        }
        guard SecureTransport.trusting.contains(transport) else { return }
        let next = SecureTarget(baseURL: SecureServer.http2.url, path: "/echo")
        #expect(try await provider.request(next).statusCode == 200)
    }

    @Test("C04: with HTTP/2, a client certificate that is refused afterwards fails with connectionLost")
    func refusedOverHTTP2() async throws {
        let provider = Provider<SecureTarget>(transport: try SecureTransport.asyncHTTPClient.make())
        let error = await provider.failure(try makeTarget("CLIENT_REQUIRED_H2", .requestPlain))
        #expect(error?.code == .connectionLost)
        let log = try TLSServers.log(of: "CLIENT_REQUIRED_H2")
        #expect(!log.contains(Self.canary) && !log.contains(Self.pathCanary))
    }

    @Test(
        "A4: TLS 1.0 and 1.1 with RSA key exchange: AsyncHTTPClient refuses them",
        arguments: ["TLS10_RSA", "TLS11_RSA"]
    )
    func oldVersion(server: String) async throws {
        let target = SecureTarget(baseURL: TLSServers.url(server), path: "/")
        let provider = Provider<SecureTarget>(transport: try SecureTransport.asyncHTTPClient.make())
        #expect(await provider.failure(target)?.code == .tls(.handshake))
    }

    @Test(
        "A4: over URLSession on Linux the machine decides about TLS 1.0 and 1.1, and a stack with a credential has a hint",
        .enabled(if: TLSServers.isTrustedBySystem),
        arguments: ["TLS10_RSA", "TLS11_RSA"]
    )
    func oldVersionOfMachine(server: String) async throws {
        let target = SecureTarget(baseURL: TLSServers.url(server), path: "/")
        let plugins = [AccessTokenPlugin { _ in "token" }]
        let provider = Provider<SecureTarget>(transport: URLSessionTransport(), plugins: plugins)
        let hints = provider.explain().hints.map(\.id)
        do {
            let response = try await provider.request(target)
            #expect(response.statusCode == 200 && hints.contains("credential-over-any-tls"))
        } catch let error as PipelineError {
            #expect(error.code == .tls(.handshake))
        }
        let bare = Provider<SecureTarget>(transport: URLSessionTransport()).explain().hints
        #expect(!bare.contains { $0.id == "credential-over-any-tls" })
    }

    @Test("the servers log what they receive, as a client that verifies nothing shows")
    func control() async throws {
        var configuration = try SecureTransport.makeConfiguration()
        configuration.tlsConfiguration?.certificateVerification = .none
        let provider = Provider<SecureTarget>(transport: AsyncHTTPClientTransport(configuration: configuration))
        let canary = "control-\(UUID().uuidString)"
        let call = Task {
            try await provider.request(SecureTarget(baseURL: TLSServers.url("UNKNOWN_CA"), path: "/\(canary)"))
        }
        let deadline = ContinuousClock.now + .seconds(20)
        while !(try TLSServers.log(of: "UNKNOWN_CA")).contains(canary), ContinuousClock.now < deadline {
            await Task.yield()
        }
        #expect(try TLSServers.log(of: "UNKNOWN_CA").contains(canary))
        call.cancel()
        await #expect(throws: CancellationError.self) { _ = try await call.value }
    }

    @Test("a client with a certificate is accepted, and one without gets a 400")
    func clientCertificate() async throws {
        var configuration = try SecureTransport.makeConfiguration()
        let chain = try NIOSSLCertificate.fromPEMFile(TLSServers.clientCertificate)
        configuration.tlsConfiguration?.certificateChain = chain.map { .certificate($0) }
        configuration.tlsConfiguration?.privateKey = .privateKey(
            try NIOSSLPrivateKey(file: TLSServers.clientKey, format: .pem)
        )
        let target = SecureTarget(baseURL: TLSServers.url("MUTUAL"), path: "/echo")
        let provider = Provider<SecureTarget>(transport: AsyncHTTPClientTransport(configuration: configuration))
        let response = try await provider.request(target)
        #expect(response.statusCode == 200)
        #expect(response.headers.text("X-Client") == "CN=client")
        let stranger = Provider<SecureTarget>(transport: try SecureTransport.asyncHTTPClient.make())
        // nginx requests a certificate and reports its absence in HTTP.
        #expect(try await stranger.request(target).statusCode == 400)
    }
}
