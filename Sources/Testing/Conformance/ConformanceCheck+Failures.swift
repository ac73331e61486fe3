import Foundation
import HTTPTypes
import PipelineCore

extension ConformanceCheck {
    /// Checks of cancellation, timeouts and network failures.
    static let failures: [ConformanceCheck] = [
        ConformanceCheck("a cancelled call ends in CancellationError", run: cancellation),
        ConformanceCheck("a cancelled stream ends in CancellationError", needsNetwork: true, run: streamCancellation),
        ConformanceCheck("an attempt that takes too long is timeout.attempt", needsNetwork: true, run: attemptTimeout),
        ConformanceCheck("a refused connection is connect.refused", needsNetwork: true, run: refused),
        ConformanceCheck("an empty response is connectionLost", needsNetwork: true, run: emptyAnswer),
        ConformanceCheck("a reset within the body is connectionLost", needsNetwork: true, run: reset),
        ConformanceCheck("a body that ends early is truncated", needsNetwork: true, run: truncated),
        ConformanceCheck("a response that is not HTTP is malformedResponse", needsNetwork: true, run: malformed),
        ConformanceCheck("a body over the limit is limit.bodyBytes", run: limit),
    ]

    private static func cancellation(_ bench: ConformanceBench) async throws {
        let answer = ConformanceAnswer(script: [.stall])
        switch try await bench.cancelledOutcome(of: bench.target("/stall", answer: answer)) {
        case .success:
            try ConformanceFailure.require(!bench.sendsBytes, "a call without a response did not fail")
        case .failure(let error):
            try ConformanceFailure.require(error is CancellationError, "it threw \(type(of: error)): \(error)")
        }
        if bench.sendsBytes { try await bench.server.wait { $0.openConnectionCount == 0 } }
        let next = try await bench.makeProvider().request(bench.target("/next"))
        try ConformanceFailure.require(next.statusCode, is: 200, "the status of the next call")
    }

    private static func streamCancellation(_ bench: ConformanceBench) async throws {
        let script: [LoopbackServer.Action] = [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\none"), .stall]
        let target = bench.target("/endless", answer: ConformanceAnswer(script: script))
        let provider = bench.makeProvider()
        let (arrived, signal) = AsyncStream.makeStream(of: Void.self)
        let call = Task {
            for try await _ in try await provider.stream(target).body { signal.yield() }
        }
        for await _ in arrived { break }
        call.cancel()
        switch await call.result {
        case .success:
            throw ConformanceFailure(message: "a stream without an end ended")
        case .failure(let error):
            try ConformanceFailure.require(error is CancellationError, "it threw \(type(of: error)): \(error)")
        }
        try await bench.server.wait { $0.openConnectionCount == 0 }
    }

    private static func attemptTimeout(_ bench: ConformanceBench) async throws {
        var target = bench.target("/stall", answer: ConformanceAnswer(script: [.stall]))
        target.options.attemptTimeout = .seconds(5)
        let provider = bench.makeProvider()
        let call = Task { [target] in try await provider.request(target) }
        defer { call.cancel() }
        try await bench.server.wait { $0.requestCount > 0 }
        try await bench.clock.waitForSleepers()
        bench.clock.advance(by: .seconds(5))
        let code = try await bench.failureCode {
            _ = try await withTaskCancellationHandler {
                try await call.value
            } onCancel: {
                call.cancel()
            }
        }
        try ConformanceFailure.require(code, is: .timeout(.attempt), "the code")
        try await bench.server.wait { $0.openConnectionCount == 0 }
        target = bench.target("/fast", answer: ConformanceAnswer(body: Data("fast".utf8)))
        target.options.attemptTimeout = .seconds(5)
        let fast = try await provider.request(target)
        try ConformanceFailure.require(fast.data, is: Data("fast".utf8), "a body that came in time")
        try ConformanceFailure.require(bench.clock.sleeperCount, is: 0, "the number of timers left behind")
    }

    private static func refused(_ bench: ConformanceBench) async throws {
        let refusal = try LoopbackPort.refusing()
        let target = ConformanceTarget(baseURL: refusal.url, path: "/")
        let code = try await bench.failureCode { _ = try await bench.makeProvider().request(target) }
        try ConformanceFailure.require(code, is: .connect(.refused), "the code")
    }

    private static func emptyAnswer(_ bench: ConformanceBench) async throws {
        try await require(.connectionLost, after: [.close], bench)
        try await require(.connectionLost, after: [.reset], bench)
    }

    /// The head is read before the reset, which would otherwise overtake it.
    private static func reset(_ bench: ConformanceBench) async throws {
        let script: [LoopbackServer.Action] = [
            .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\none"), .hold("reset"), .reset,
        ]
        let target = bench.target("/reset", method: .post, answer: ConformanceAnswer(script: script))
        let provider = bench.makeProvider()
        let code = try await bench.failureCode {
            for try await _ in try await provider.stream(target).body { bench.server.release("reset") }
        }
        try ConformanceFailure.require(code, is: .connectionLost, "the code")
    }

    private static func truncated(_ bench: ConformanceBench) async throws {
        try await require(.truncated, after: [.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\none"), .close], bench)
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n"
        try await require(.truncated, after: [.send(chunked), .close], bench)
    }

    private static func malformed(_ bench: ConformanceBench) async throws {
        for text in ["garbage\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "HTTP/1.1 99 Low\r\n\r\n"] {
            try await require(.malformedResponse, after: [.send(text), .close], bench)
        }
        let lengths = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\none"
        try await require(.malformedResponse, after: [.send(lengths), .close], bench)
    }

    private static func limit(_ bench: ConformanceBench) async throws {
        let target = bench.target("/large", answer: ConformanceAnswer(body: Data(count: 1_001)))
        let provider = bench.makeProvider(limits: PipelineLimits(bufferedBodyByteCount: 1_000))
        let code = try await bench.failureCode { _ = try await provider.request(target) }
        try ConformanceFailure.require(code, is: .limit(.bodyBytes), "the code")
    }

    /// Uses POST so that no transport retries.
    private static func require(
        _ expected: PipelineError.Code,
        after script: [LoopbackServer.Action],
        _ bench: ConformanceBench
    ) async throws {
        let target = bench.target("/fault", method: .post, answer: ConformanceAnswer(script: script))
        let code = try await bench.failureCode { _ = try await bench.makeProvider().request(target) }
        try ConformanceFailure.require(code, is: expected, "the code")
    }
}
