import AsyncHTTPClient
import Foundation
import NIOCore
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineTransports

@Suite("AsyncHTTPClientTransport, headTimeout", .tags(.concurrent), .realTime, .watched)
struct AsyncHTTPClientHeadTimerTests {
    @Test("headTimeout limits the time to the header fields, not the body")
    func headTimeout() async throws {
        let data = await inSomeTime { time in
            let server = try LoopbackServer {
                $0.target == "/stall" ? [.stall] : AsyncHTTPClientTimeoutTests.halves(time)
            }
            defer { server.stop() }
            let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(headTimeout: time))
            let data = try await provider.request(Probe(server)).data
            #expect(try await provider.failureCode(Probe(server, "/stall")) == .timeout(.head))
            return data
        }
        #expect(data == Data("ab".utf8))
    }

    @Test(
        "headTimeout ends an exchange on a reused connection, also if the request body is sent in pieces",
        arguments: [10, 300_000]
    )
    func reusedConnection(byteCount: Int) async throws {
        let failure = await inSomeTime { time -> PipelineError? in
            let server = try LoopbackServer { request in
                request.target == "/stall" ? [.send("HTTP/1.1 103 Early Hints\r\n\r\n"), .stall] : [.respond(200)]
            }
            defer { server.stop() }
            let transport = AsyncHTTPClientTransport(
                configuration: AsyncHTTPClientTimeoutTests.configuration(connect: .seconds(30)),
                headTimeout: time
            )
            let provider = Provider<Probe>(transport: transport)
            for _ in 0..<2 { _ = try await provider.request(Probe(server)) }
            let task = RequestTask.requestData(Data(count: byteCount))
            let failure = try await provider.failure(Probe(server, "/stall", method: .put, task: task))
            try expectTimeout(.timeout(.head), failure)
            #expect(server.activity.connectionCount == 1)
            try await server.wait { $0.openConnectionCount == 0 }
            return failure
        }
        // The client's own deadline would pass only after the connect timeout.
        #expect(try #require(failure ?? nil).exchanges[0].duration < .seconds(30))
    }

    /// Sends an interim response, waits, and sends a head in pieces.
    private static func drip(_ head: String, after silence: Duration, pause: Duration) -> [LoopbackServer.Action] {
        let start: [LoopbackServer.Action] = [.send("HTTP/1.1 103 Early Hints\r\n\r\n"), .wait(silence)]
        return start + head.flatMap { [.send(String($0)), .wait(pause)] }
    }

    @Test("G11: a head has to be complete within its limit from its first byte; silence before it does not count")
    func drip() async throws {
        _ = await inSomeTime { time in
            let server = try LoopbackServer { request in
                let head = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
                let isDrip = request.target == "/drip"
                return Self.drip(head, after: isDrip ? .zero : time * 8, pause: isDrip ? time : .zero)
            }
            defer { server.stop() }
            let transport = AsyncHTTPClientTransport(machine: .real, headLimit: time * 4)
            let provider = Provider<Probe>(transport: transport)
            #expect(try await provider.failureCode(Probe(server, "/drip")) == .timeout(.head))
            return try await provider.request(Probe(server, "/pause")).statusCode
        }
    }
}
