import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// Rows C08 and C12 of the fault matrix: servers that are slow to respond.
@Suite("Connection faults: slow responses", .tags(.concurrent), .realTime, .watched)
struct StallFaultTests {
    private static let stalling: LoopbackServer.Handler = { request in
        [.send(FaultBench.response.prefix(Int(request.target.dropFirst()) ?? 0)), .stall]
    }

    /// Advances the clock until the work has ended.
    private func result<Value: Sendable>(
        moving clock: ManualClock,
        _ work: Task<Value, any Error>
    ) async -> Result<Value, any Error> {
        let hasEnded = Atomic(false)
        let waiting = Task {
            defer { hasEnded.store(true, ordering: .releasing) }
            return await work.result
        }
        await eventually {
            clock.advanceIfAnyoneSleeps()
            return hasEnded.load(ordering: .acquiring)
        }
        return await waiting.value
    }

    @Test("C08: a response stalled at any head byte fails with timeout.attempt", arguments: NetworkTransport.allCases)
    func head(transport: NetworkTransport) async throws {
        let bench = try FaultBench(transport.make())
        let server = try LoopbackServer(handler: Self.stalling)
        defer { server.stop() }
        for count in 0..<FaultBench.headByteCount {
            var target = Probe(server, "/\(count)")
            target.options.attemptTimeout = .seconds(5)
            let call = Task { [target] in try await bench.provider.request(target) }
            try await server.wait { $0.requestCount == count + 1 }
            let error = await #expect(throws: PipelineError.self, "\(count) bytes") {
                _ = try await result(moving: bench.clock, call).get()
            }
            #expect(error?.code == .timeout(.attempt), "\(count) bytes")
        }
        #expect(bench.clock.sleeperCount == 0)
        try await bench.expectSound(server)
    }

    @Test("C08: a response stalled at any body byte fails with timeout.idle", arguments: NetworkTransport.allCases)
    func body(transport: NetworkTransport) async throws {
        let bench = try FaultBench(transport.make())
        let server = try LoopbackServer(handler: Self.stalling)
        defer { server.stop() }
        for count in 0..<300 {
            var target = Probe(server, "/\(FaultBench.headByteCount + count)")
            target.options.idleTimeout = .seconds(5)
            let received = Mutex(0)
            let response = try await bench.provider.stream(target)
            let reading = Task {
                for try await chunk in response.body { received.withLock { $0 += chunk.count } }
            }
            await eventually { received.withLock { $0 } == count }
            let error = await #expect(throws: PipelineError.self, "\(count) bytes") {
                try await result(moving: bench.clock, reading).get()
            }
            #expect(error?.code == .timeout(.idle), "\(count) bytes")
            #expect(received.withLock { $0 } == count)
        }
        #expect(bench.clock.sleeperCount == 0)
        try await bench.expectSound(server)
    }

    @Test(
        "C08: without timeouts of the call, the transport's own fail with timeout.head or timeout.idle, on time",
        arguments: NetworkTransport.allCases,
        [0, 1, 50, FaultBench.headByteCount - 1, FaultBench.headByteCount, FaultBench.headByteCount + 1, 399]
    )
    func ownTimeout(transport: NetworkTransport, count: Int) async throws {
        let server = try LoopbackServer(handler: Self.stalling)
        defer { server.stop() }
        let expected: PipelineError.Code = count < FaultBench.headByteCount ? .timeout(.head) : .timeout(.idle)
        let bench = await inSomeTime { time in
            let bench = try FaultBench(transport.make(read: time))
            let start = ContinuousClock.now
            try expectTimeout(expected, try await bench.provider.failure(Probe(server, "/\(count)")))
            #expect(ContinuousClock.now - start >= time * 0.9)
            try await server.wait { $0.openConnectionCount == 0 }
            let streamed = await #expect(throws: PipelineError.self) {
                for try await _ in try await bench.provider.stream(Probe(server, "/\(count)")).body {}
            }
            try expectTimeout(expected, streamed)
            return bench
        }
        try await #require(bench).expectSound(server)
    }

    @Test(
        "C12: a body that drips exceeds the attempt timeout, not the idle timeout",
        arguments: NetworkTransport.allCases
    )
    func drip(transport: NetworkTransport) async throws {
        let bench = try FaultBench(transport.make())
        let server = try LoopbackServer { _ in
            let drips = (0..<20).flatMap { [LoopbackServer.Action.hold("\($0)"), .send("b")] }
            return [.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")] + drips
        }
        defer { server.stop() }
        var target = Probe(server)
        target.options.idleTimeout = .seconds(5)
        target.options.attemptTimeout = .seconds(30)
        let received = Mutex(0)
        let call = Task { [target] in
            for try await step in bench.provider.requestWithProgress(target) {
                received.withLock { $0 = step.received.byteCount }
            }
        }
        try await server.wait { $0.requestCount == 1 }
        try await bench.clock.waitForSleepers()
        for count in 0..<7 {
            await eventually { received.withLock { $0 } == count }
            bench.clock.advance(by: .seconds(4))
            server.release("\(count)")
        }
        await eventually { received.withLock { $0 } == 7 }
        bench.clock.advance(by: .seconds(2))
        let error = await #expect(throws: PipelineError.self) { try await call.value }
        #expect(error?.code == .timeout(.attempt))
        for count in 0..<20 { server.release("\(count)") }
        try await bench.expectSound(server)
    }

    @Test("C12: every byte restarts the transport's own idle timeout", arguments: NetworkTransport.allCases)
    func ownTimeoutOfDrip(transport: NetworkTransport) async throws {
        let bench = await inSomeTime([.seconds(2), .seconds(8), .seconds(32)]) { time in
            let bench = try FaultBench(transport.make(read: time))
            let drips = (0..<5).flatMap { _ in [LoopbackServer.Action.wait(time / 4), .send("b")] }
            let server = try LoopbackServer { _ in
                [.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")] + drips + [.close]
            }
            defer { server.stop() }
            let start = ContinuousClock.now
            #expect(try await bench.provider.request(Probe(server)).data == Data("bbbbb".utf8))
            #expect(ContinuousClock.now - start > time)
            try await server.wait { $0.openConnectionCount == 0 }
            return bench
        }
        try await #require(bench).expectSound()
    }

    @Test(
        "A reader may pause for longer than the transport's idle timeout",
        arguments: NetworkTransport.allCases
    )
    func pausedReader(transport: NetworkTransport) async throws {
        let pausing = try FaultBench(transport.make())
        let content = Data(repeating: 7, count: 16 << 20)
        let bench = await inSomeTime { time in
            let bench = try FaultBench(transport.make(read: time))
            let server = try LoopbackServer { request in
                request.target == "/pause"
                    ? [.wait(time * 1.5), .respond(200)] : [.respond(200, body: content), .close]
            }
            defer { server.stop() }
            let response = try await bench.provider.stream(Probe(server))
            var byteCount = 0
            for try await chunk in response.body {
                if byteCount == 0 { _ = try await pausing.provider.request(Probe(server, "/pause")) }
                byteCount += chunk.count
            }
            #expect(byteCount == content.count)
            return bench
        }
        try await #require(bench).expectSound()
    }
}
