import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
#endif

@Suite("TLS: servers that do not complete a handshake", .tags(.concurrent), .realTime, .watched)
struct TLSFaultTests {
    /// How a server reacts to a client that begins a handshake.
    enum Fault: String, CaseIterable, CustomTestStringConvertible {
        case plaintext, close, closeAtOnce, reset, alert

        var script: [LoopbackServer.Action] {
            switch self {
            case .plaintext: [.receive, .respond(400), .close]
            case .close: [.receive, .close]
            case .closeAtOnce: [.close]
            case .reset: [.receive, .reset]
            // handshake_failure, RFC 8446 §6
            case .alert: [.receive, .send(Data([21, 3, 3, 0, 2, 2, 40])), .close]
            }
        }

        var testDescription: String { rawValue }
    }

    /// The server's address, with https.
    private func secure(_ server: LoopbackServer) throws -> URL {
        try #require(URL(string: "https://127.0.0.1:\(server.port)"))
    }

    @Test(
        "C04: a handshake that the server does not finish fails with tls, and nothing of the request is sent",
        arguments: NetworkTransport.allCases,
        Fault.allCases
    )
    func fault(transport: NetworkTransport, fault: Fault) async throws {
        let server = try LoopbackServer(greeting: fault.script) { _ in [.respond(200)] }
        defer { server.stop() }
        let good = try LoopbackServer { _ in [.respond(200)] }
        defer { good.stop() }
        let provider = Provider<Probe>(transport: transport.make())
        let pulls = Mutex(0)
        let body = PipelineBody.stream {
            AsyncStream(unfolding: { @Sendable () -> Data? in
                pulls.withLock { $0 += 1 }
                return nil
            })
        }
        for round in 1...5 {
            let target = Probe(try secure(server), method: .post, task: .requestStream(body))
            let error = try #require(try await provider.failure(target))
            let cause = String(describing: error.underlyingError)
            #expect(codes(of: fault, transport).contains(error.code), "\(round): \(error.code) \(cause)")
        }
        #expect(server.requests.isEmpty)
        // URLSession reads a stream before it connects.
        if transport != .urlSession { #expect(pulls.withLock { $0 } == 0) }
        #expect(try await provider.request(Probe(good)).statusCode == 200)
    }

    /// libcurl does not report whether a reset came within the handshake.
    private func codes(of fault: Fault, _ transport: NetworkTransport) -> Set<PipelineError.Code> {
        switch (transport, fault) {
        case (.urlSession, .reset), (.urlSession, .closeAtOnce), (.urlSession, .close):
            [.tls(.handshake), .connectionLost]
        default: [.tls(.handshake)]
        }
    }

    @Test("C04: a handshake that never ends fails with timeout.connect, or with timeout.head on URLSession")
    func silence() async throws {
        let server = try LoopbackServer(greeting: [.stall]) { _ in [.respond(200)] }
        defer { server.stop() }
        let session = URLSessionTransport.makeDefaultConfiguration()
        session.timeoutIntervalForRequest = 0.3
        var expected: [(any Transport, PipelineError.Code)] = [
            (URLSessionTransport(configuration: session), .timeout(.head))
        ]
        #if AsyncHTTPClient
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        configuration.timeout.connect = .milliseconds(300)
        expected.append((AsyncHTTPClientTransport(configuration: configuration), .timeout(.connect)))
        #endif
        for (transport, code) in expected {
            let provider = Provider<Probe>(transport: transport)
            #expect(try await provider.failureCode(Probe(try secure(server), method: .post)) == code)
        }
        #expect(server.requests.isEmpty)
        try await server.wait { $0.openConnectionCount == 0 }
    }
}
