import Foundation
import HTTPTypes
import PipelineCore

extension ConformanceCheck {
    /// Checks of cancellation, timeouts and network failures.
    static let failures: [ConformanceCheck] = [
        ConformanceCheck("a cancelled call ends in CancellationError", cancellation),
        ConformanceCheck(network: "a cancelled stream ends in CancellationError", streamCancellation),
        ConformanceCheck(network: "an attempt that takes too long is timeout.attempt", attemptTimeout),
        ConformanceCheck(network: "a refused connection is connect.refused", refused),
        ConformanceCheck(network: "an empty response is connectionLost") { bench in
            try await require(.connectionLost, bench, then: .close)
            try await require(.connectionLost, bench, then: .reset)
        },
        ConformanceCheck(network: "a reset within the body is connectionLost", reset),
        ConformanceCheck("a body over the limit is limit.bodyBytes", limit),
    ]

    static let endless: [LoopbackServer.Action] = [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\none"), .stall]

    private static func cancellation(_ bench: ConformanceBench) async throws {
        let target = bench.target(.init(path: "/stall", script: [.stall]))
        let call = Task { try await bench.response(to: target) }
        defer { call.cancel() }
        if bench.kind.sendsBytes { try await bench.server.wait { $0.requestCount > 0 } }
        call.cancel()
        switch await call.result {
        case .success: try require(!bench.kind.sendsBytes, "a call without a response did not fail")
        case .failure(let error): try requireCancellation(error)
        }
        if bench.kind.sendsBytes { try await bench.server.wait { $0.openConnectionCount == 0 } }
        try await requireNext(bench)
    }

    private static func streamCancellation(_ bench: ConformanceBench) async throws {
        let target = bench.target(.init(path: "/endless", script: endless))
        let provider = bench.makeProvider()
        let (arrived, signal) = AsyncStream.makeStream(of: Void.self)
        let call = Task {
            for try await _ in try await provider.stream(target).body { signal.yield() }
        }
        for await _ in arrived { break }
        call.cancel()
        switch await call.result {
        case .success: throw Failure(message: "a stream without an end ended")
        case .failure(let error): try requireCancellation(error)
        }
        try await bench.server.wait { $0.openConnectionCount == 0 }
    }

    private static func requireCancellation(_ error: any Error) throws {
        try require(error is CancellationError, "it threw \(type(of: error)): \(error)")
    }

    private static func attemptTimeout(_ bench: ConformanceBench) async throws {
        var target = bench.target(.init(path: "/stall", script: [.stall]))
        target.options.attemptTimeout = .seconds(5)
        let provider = bench.makeProvider()
        let call = Task { [target] in try await provider.request(target) }
        defer { call.cancel() }
        try await bench.server.wait { $0.requestCount > 0 }
        try await bench.clock.waitForSleepers()
        bench.clock.advance(by: .seconds(5))
        try await require(.timeout(.attempt)) {
            _ = try await withTaskCancellationHandler {
                try await call.value
            } onCancel: {
                call.cancel()
            }
        }
        try await bench.server.wait { $0.openConnectionCount == 0 }
        target = bench.target(.init(path: "/fast", body: Data("fast".utf8)))
        target.options.attemptTimeout = .seconds(5)
        let fast = try await provider.request(target)
        try require(fast.data, is: target.body, "a body that came in time")
        try require(bench.clock.sleeperCount, is: 0, "the number of timers left behind")
    }

    private static func refused(_ bench: ConformanceBench) async throws {
        let refusal = try LoopbackPort.refusing()
        try await require(.connect(.refused)) {
            _ = try await bench.makeProvider().request(ConformanceTarget(baseURL: refusal.url, path: "/"))
        }
    }

    /// The head is read before the reset, which would otherwise overtake it.
    private static func reset(_ bench: ConformanceBench) async throws {
        let script: [LoopbackServer.Action] = [endless[0], .hold("reset"), .reset]
        let target = bench.target(.init(path: "/reset", method: .post, script: script))
        let provider = bench.makeProvider()
        try await require(.connectionLost) {
            for try await _ in try await provider.stream(target).body { bench.server.release("reset") }
        }
    }

    private static func limit(_ bench: ConformanceBench) async throws {
        let target = bench.target(.init(path: "/large", body: Data(count: 1_001)))
        let provider = bench.makeProvider(limits: ProviderConfiguration.Limits(bufferedBodyByteCount: 1_000))
        try await require(.limit(.bodyBytes)) { _ = try await provider.request(target) }
    }
}
