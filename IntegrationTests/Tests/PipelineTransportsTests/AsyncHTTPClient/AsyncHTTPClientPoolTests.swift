import AsyncHTTPClient
import Foundation
import NIOCore
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("AsyncHTTPClientTransport, busy connections", .tags(.concurrent), .realTime, .watched)
struct AsyncHTTPClientPoolTests {
    private let clock = ManualClock()

    /// A configuration with a connect timeout that is long enough for any machine.
    private static func configuration(_ connect: Duration = .seconds(300)) -> HTTPClient.Configuration {
        var configuration = AsyncHTTPClientTransport.makeDefaultConfiguration()
        configuration.timeout.connect = TimeAmount(connect)
        return configuration
    }

    /// Eight responses at a time, each of which takes 300 ms of virtual time; an attempt may take a second.
    @Test("C14 64 callers over 8 connections all succeed: the wait for a connection is not part of the attempt")
    func busy() async throws {
        let requestCount = Atomic(0)
        let server = try LoopbackServer { _ in
            let number = requestCount.wrappingAdd(1, ordering: .relaxed).oldValue
            return [.hold("round \(number / 8)"), .respond(200)]
        }
        defer { server.stop() }
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let provider = Provider<Probe>(
            transport: AsyncHTTPClientTransport(configuration: Self.configuration(), connectionsPerHost: 8),
            plugins: [.willSend { _, _ in begin.yield() }],
            configuration: .init(clock: clock)
        )
        let target = Probe(server).with(attemptTimeout: .seconds(1))
        let waits = try await withThrowingTaskGroup(of: Duration?.self) { group in
            for _ in 0..<64 {
                group.addTask { try await provider.request(target).exchanges.first?.connectionWait }
            }
            var calls = begun.makeAsyncIterator()
            for _ in 0..<64 { _ = await calls.next() }
            var waits: [Duration?] = []
            for round in 0..<8 {
                try await server.wait { $0.holdCount == 8 * (round + 1) }
                clock.advance(by: .milliseconds(300))
                server.release("round \(round)")
                for _ in 0..<8 { waits.append(try await group.next() ?? nil) }
            }
            return waits
        }
        #expect(server.requests.count == 64)
        #expect(server.activity.connectionCount == 8)
        #expect(waits.allSatisfy { $0 != nil })
        // The last calls wait for seven rounds of 300 ms, longer than an attempt may take.
        #expect(waits.compactMap(\.self).max() ?? .zero > .seconds(1))
        #expect(waits.compactMap(\.self).max() ?? .zero <= .milliseconds(2_100))
    }

    @Test(
        "C14 A call fails with timeout.pool if all connections stay busy; nothing is sent, and the wait is recorded"
    )
    func timeout() async throws {
        var limit = Duration.zero
        let error = await inSomeTime { time -> PipelineError? in
            limit = time
            let server = try LoopbackServer { request in
                request.target == "/busy" ? [.hold("busy"), .respond(200)] : [.respond(200)]
            }
            defer { server.stop() }
            let transport = AsyncHTTPClientTransport(configuration: Self.configuration(time), connectionsPerHost: 1)
            let provider = Provider<Probe>(transport: transport)
            // Opens the connection, so that later calls need no new one.
            _ = try await provider.request(Probe(server))
            async let busy = provider.request(Probe(server, "/busy"))
            try await server.wait { $0.holdCount == 1 }
            let error = try await provider.failure(Probe(server, "/late", method: .post))
            server.release("busy")
            #expect(try await busy.statusCode == 200)
            #expect(server.requests.map(\.target) == ["/", "/busy"])
            return error
        }
        let failure = try #require(error ?? nil)
        #expect(failure.code == .timeout(.pool))
        #expect(failure.code.provesNothingSent)
        let exchange = try #require(failure.exchanges.first)
        #expect(failure.exchanges.count == 1)
        #expect(exchange.connectionWait == exchange.duration)
        #expect(exchange.duration >= limit)
    }

    @Test("An attempt that takes too long on its connection fails with timeout.attempt")
    func attempt() async throws {
        let server = try LoopbackServer { _ in [.hold("never"), .respond(200)] }
        defer { server.stop() }
        let transport = AsyncHTTPClientTransport(configuration: Self.configuration())
        let provider = Provider<Probe>(transport: transport, configuration: .init(clock: clock))
        let target = Probe(server).with(attemptTimeout: .seconds(1))
        async let failure = provider.failure(target)
        try await server.wait { $0.holdCount == 1 }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        #expect(try await failure?.code == .timeout(.attempt))
    }

    @Test("With a shared client, an exchange has no connection wait, and no request carries a mark")
    func sharedClient() async throws {
        let server = try LoopbackServer { _ in [.respond(200)] }
        defer { server.stop() }
        let client = HTTPClient(configuration: Self.configuration())
        let provider = Provider<Probe>(transport: AsyncHTTPClientTransport(client: client))
        let response = try await provider.request(Probe(server))
        #expect(response.exchanges.map(\.connectionWait) == [nil])
        #expect(server.requests.map(\.headerLines) == [["host: 127.0.0.1:\(server.port)"]])
        try await client.shutdown()
    }

    @Test("The default is 64 HTTP/1.1 connections per host, 8 on Apple platforms; zero stops the program")
    func connectionsPerHost() async {
        #if canImport(Darwin)
        let count = 8
        #else
        let count = 64
        #endif
        let pool = AsyncHTTPClientTransport.makeDefaultConfiguration().connectionPool
        #expect(pool.concurrentHTTP1ConnectionsPerHostSoftLimit == count)
        await #expect(processExitsWith: .failure) { _ = AsyncHTTPClientTransport(connectionsPerHost: 0) }
    }
}
