import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("URLSessionTransport: failures", .tags(.concurrent), .realTime, .watched)
struct URLSessionFailureTests {
    private let provider = Provider<Probe>(transport: URLSessionTransport(), configuration: .init(redirects: .never))

    @Test("C06: an idle connection that the server closed is replaced, and the call succeeds")
    func staleConnection() async throws {
        let server = try LoopbackServer { _ in [.respond(200), .close] }
        for _ in 0..<3 { #expect(try await provider.request(Probe(server, method: .post)).statusCode == 200) }
        #expect(server.activity.requestCount == 3)
    }

    #if canImport(FoundationNetworking)
    @Test(
        "C06: on Linux, a call that dies on a reused connection before any byte is resent once, whatever its method"
    )
    func reusedConnection() async throws {
        let server = try LoopbackServer { request in
            request.target == "/first" ? [.respond(200)] : [.close]
        }
        _ = try await provider.request(Probe(server, "/first"))
        #expect(try await provider.failureCode(Probe(server, "/dies", method: .post)) == .connectionLost)
        #expect(server.requests.map(\.target) == ["/first", "/dies", "/dies"])
    }

    @Test("C06: on Linux, a call that dies on one reused connection after another fails after six tries")
    func reusedConnections() async throws {
        let server = try LoopbackServer { request in
            request.target == "/first" ? [.hold("all are there"), .respond(200)] : [.close]
        }
        try await withThrowingTaskGroup { group in
            for _ in 0..<6 { group.addTask { _ = try await provider.request(Probe(server, "/first")) } }
            try await server.wait { $0.holdCount == 6 }
            server.release("all are there")
            try await group.waitForAll()
        }
        #expect(try await provider.failureCode(Probe(server, "/dies", method: .post)) == .connectionLost)
        #expect(server.requests.count { $0.target == "/dies" } == 6)
    }
    #endif
}
