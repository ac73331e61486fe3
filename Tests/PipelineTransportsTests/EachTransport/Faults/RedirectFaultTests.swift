import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// Rows R09 and R10 of the fault matrix: redirects whose bodies are slow, long or broken.
@Suite("Redirect faults", .tags(.concurrent), .realTime, .watched)
struct RedirectFaultTests {
    /// The body of a redirect.
    enum Fault: String, CaseIterable, CustomTestStringConvertible {
        case long, announced, endless, cut, bomb

        var testDescription: String { rawValue }

        /// The actions after the Location field, for a body of so many bytes.
        func actions(_ byteCount: Int) -> [LoopbackServer.Action] {
            switch self {
            case .long:
                return [.send("Content-Length: \(byteCount)\r\n\r\n"), .send(Data(count: byteCount))]
            case .announced:
                return [.send("Content-Length: \(101 << 20)\r\n\r\n"), .send(Data(count: 1_000)), .stall]
            case .endless:
                let chunk = Data("10000\r\n".utf8) + Data(count: 0x10000) + Data("\r\n".utf8)
                return [.send("Transfer-Encoding: chunked\r\n\r\n")] + Array(repeating: .send(chunk), count: 2_000)
                    + [.stall]
            case .cut:
                return [.send("Content-Length: 1000\r\n\r\n0123456789"), .close]
            case .bomb:
                let bomb = Deflate.gzip(Data(count: byteCount))
                return [.send("Content-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n"), .send(bomb)]
            }
        }
    }

    private static func head(to next: LoopbackServer) -> LoopbackServer.Action {
        .send("HTTP/1.1 302 Found\r\nLocation: \(next.url)/\r\n")
    }

    private static func makeNext() throws -> LoopbackServer {
        try LoopbackServer { _ in [.respond(200, body: "there")] }
    }

    @Test(
        "R09: a redirect whose body stalls or drips is followed after a second, and its connection is closed",
        arguments: NetworkTransport.allCases.filter { !$0.holdsRedirectBodies },
        [true, false]
    )
    func slow(transport: NetworkTransport, drips: Bool) async throws {
        let next = try Self.makeNext()
        let server = try LoopbackServer { _ in
            [Self.head(to: next), .send("Content-Length: 100\r\n\r\nx")]
                + (drips ? [.hold("drip"), .send("x"), .stall] : [.stall])
        }
        defer { server.stop() }
        let clock = ManualClock()
        let provider = Provider<Probe>(transport: transport.make(), configuration: .init(clock: clock))
        let call = Task { try await provider.request(Probe(server)) }
        try await clock.waitForSleepers()
        clock.advance(by: .milliseconds(900))
        server.release("drip")
        try await clock.waitForSleepers()
        #expect(try await clock.advanceToNextSleeper() == .milliseconds(100))
        let response = try await call.value
        #expect(response.data == Data("there".utf8))
        #expect(response.exchanges.map(\.statusCode) == [302, 200])
        try await server.wait { $0.openConnectionCount == 0 }
        #expect(clock.sleeperCount == 0)
    }

    @Test(
        "R10: a redirect is followed without delay, however long or broken its body is",
        arguments: NetworkTransport.allCases,
        Fault.allCases
    )
    func broken(transport: NetworkTransport, fault: Fault) async throws {
        if transport.holdsRedirectBodies, ![.long, .bomb].contains(fault) { return }
        let next = try Self.makeNext()
        let actions = fault.actions(transport.holdsRedirectBodies ? 1 << 20 : 90 << 20)
        let server = try LoopbackServer { _ in [Self.head(to: next)] + actions }
        defer { server.stop() }
        let provider = Provider<Probe>(transport: transport.make(), configuration: .init(clock: ManualClock()))
        for _ in 0..<2 {
            let response = try await provider.request(Probe(server))
            #expect(response.data == Data("there".utf8))
            #expect(response.exchanges.map(\.statusCode) == [302, 200])
        }
        if !transport.holdsRedirectBodies, fault != .bomb { try await server.wait { $0.openConnectionCount == 0 } }
        let streamed = try await provider.stream(Probe(server))
        #expect(try await streamed.response.body.collect(upTo: 100) == Data("there".utf8))
    }

    @Test("A redirect's short body is read to its end, and the connection is reused")
    func short() async throws {
        for transport in NetworkTransport.allCases {
            let server = try LoopbackServer { request in
                request.target == "/"
                    ? [.respond(302, headers: [("Location", "/next")], body: "old")] : [.respond(200, body: "there")]
            }
            defer { server.stop() }
            let provider = Provider<Probe>(transport: transport.make(), configuration: .init(clock: ManualClock()))
            #expect(try await provider.request(Probe(server)).data == Data("there".utf8))
            #expect(server.activity.connectionCount == 1, "\(transport)")
        }
    }

    #if canImport(FoundationNetworking)
    @Test("R09: on Linux, URLSession holds a redirect back until its body ends or the attempt times out")
    func held() async throws {
        let next = try Self.makeNext()
        let server = try LoopbackServer { _ in
            [Self.head(to: next), .send("Content-Length: 100\r\n\r\nx"), .stall]
        }
        defer { server.stop() }
        let clock = ManualClock()
        let provider = Provider<Probe>(
            transport: NetworkTransport.urlSession.make(),
            configuration: .init(clock: clock)
        )
        var target = Probe(server)
        target.options.attemptTimeout = .seconds(5)
        let call = Task { [target] in try await provider.request(target) }
        try await server.wait { $0.requestCount == 1 }
        #expect(try await clock.advanceToNextSleeper() == .seconds(5))
        let error = await #expect(throws: PipelineError.self) { try await call.value }
        #expect(error?.code == .timeout(.attempt))
        try await server.wait { $0.openConnectionCount == 0 }
    }

    @Test(
        "R09: on Linux, URLSession's own timeout within the body of a redirect is timeout.idle, not timeout.head",
        arguments: ["Content-Length: 100\r\n\r\nx", "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n", "X-Pad: x"]
    )
    func ownTimeout(rest: String) async throws {
        let next = try Self.makeNext()
        let server = try LoopbackServer { _ in [Self.head(to: next), .send(rest), .stall] }
        defer { server.stop() }
        let isWhole = rest.contains("\r\n\r\n")
        let code = await inSomeTime { time in
            let provider = Provider<Probe>(transport: NetworkTransport.urlSession.make(read: time))
            let error = try await provider.failure(Probe(server))
            try expectTimeout(isWhole ? .timeout(.idle) : .timeout(.head), error)
            return error?.code
        }
        #expect(code != nil)
    }

    @Test("N02: on Linux, the attempt timeout ends a call at once while Foundation collects the body of its redirect")
    func collected() async throws {
        let next = try Self.makeNext()
        // The last byte never comes, so that the redirect is not complete even if Foundation is quick.
        let body = Deflate.gzip(Data(count: 6 << 20))
        let fields = "Content-Encoding: gzip\r\nContent-Length: \(body.count + 1)\r\n\r\n"
        let server = try LoopbackServer { _ in
            [Self.head(to: next), .send(fields), .send(body), .hold("sent"), .stall]
        }
        defer { server.stop() }
        let clock = ManualClock()
        let provider = Provider<Probe>(
            transport: NetworkTransport.urlSession.make(),
            configuration: .init(clock: clock)
        )
        var target = Probe(server)
        target.options.attemptTimeout = .seconds(5)
        let call = Task { [target] in try await provider.request(target) }
        try await server.wait { $0.holdCount == 1 }
        #expect(try await clock.advanceToNextSleeper() == .seconds(5))
        let error = await #expect(throws: PipelineError.self) { try await call.value }
        #expect(error?.code == .timeout(.attempt))
        #expect(try await provider.request(Probe(next)).data == Data("there".utf8))
    }

    @Test("R10: on Linux, URLSession fails a redirect whose body is cut")
    func lost() async throws {
        let next = try Self.makeNext()
        let server = try LoopbackServer { _ in [Self.head(to: next)] + Fault.cut.actions(0) }
        defer { server.stop() }
        let provider = Provider<Probe>(transport: NetworkTransport.urlSession.make())
        let code = try await provider.failureCode(Probe(server))
        #expect(code == .truncated || code == .connectionLost, "\(code?.rawValue ?? "none")")
    }
    #endif
}
