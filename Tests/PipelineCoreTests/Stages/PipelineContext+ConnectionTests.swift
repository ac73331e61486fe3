import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// Rule 13: waiting for a connection is not part of the attempt.
@Suite("Waiting for a connection", .tags(.concurrent), .watched)
struct PipelineContextConnectionTests {
    private let clock = ManualClock()

    /// Sends a request with an attempt timeout to a transport that reports its connection in the closure.
    private func call(
        attempt: Duration? = .seconds(1),
        _ answer: @escaping @Sendable (PipelineRequest, PipelineContext) async throws -> PipelineResponse
    ) -> Task<Result<PipelineResponse, PipelineError>, Never> {
        let transport = ScriptedTransport(always: .answer(answer))
        let provider = Provider<TestTarget>(transport: transport, configuration: .init(clock: clock))
        return Task {
            do {
                return .success(
                    try await provider.request(TestTarget(), options: .init { $0.attemptTimeout = attempt })
                )
            } catch {
                return .failure(error as? PipelineError ?? PipelineError(.cancelled, "\(error)"))
            }
        }
    }

    /// Waits five seconds for a connection and then `time` for the response.
    static func late(
        _ time: Duration
    ) -> @Sendable (PipelineRequest, PipelineContext) async throws -> PipelineResponse {
        { request, context in
            context.report(.connectionAwaited)
            try await context.clock.sleep(for: .seconds(5))
            context.report(.connection())
            try await context.clock.sleep(for: time)
            return PipelineResponse(request: request, statusCode: 200)
        }
    }

    /// Advances the clock while the transport and the attempt timer sleep.
    private func advance(bySteps steps: Duration...) async throws {
        for step in steps {
            try await clock.waitForSleepers(2)
            clock.advance(by: step)
        }
    }

    @Test("A transport that reports no connection is timed from the start, and its exchanges show no wait")
    func noReport() async throws {
        let call = call { request, context in
            try await context.clock.sleep(for: .seconds(2))
            return PipelineResponse(request: request, statusCode: 200)
        }
        try await advance(bySteps: .seconds(1))
        guard case .failure(let error) = await call.value else {
            Issue.record("the attempt was not ended")
            return
        }
        #expect(error.code == .timeout(.attempt))
        #expect(error.exchanges.map(\.connectionWait) == [nil])
    }

    @Test("C14 An exchange that never gets a connection shows its whole duration as waiting time")
    func noConnection() async throws {
        let call = call(attempt: nil) { _, context in
            context.report(.connectionAwaited)
            try await context.clock.sleep(for: .seconds(2))
            throw PipelineError(.timeout(.pool), "all connections stayed busy")
        }
        try await clock.advanceToNextSleeper()
        guard case .failure(let error) = await call.value else {
            Issue.record("the exchange did not fail")
            return
        }
        let exchange = try #require(error.exchanges.first)
        #expect(exchange.connectionWait == .seconds(2))
        #expect(exchange.duration == .seconds(2))
        #expect(
            exchange.description
                == "GET https://api.example.com/v1/items, timeout.pool, attempt 1, 2000 ms, "
                + "of which 2000 ms waiting for a connection"
        )
    }

    @Test("An exchange without an attempt timeout shows the wait too, and its description has no query")
    func untimed() async throws {
        let call = call(attempt: nil, Self.late(.seconds(1)))
        try await clock.advanceToNextSleeper()
        try await clock.advanceToNextSleeper()
        let exchange = try #require(try await call.value.get().exchanges.first)
        #expect(
            "\(exchange)"
                == "GET https://api.example.com/v1/items, status 200, attempt 1, 6000 ms, "
                + "of which 5000 ms waiting for a connection"
        )
        var text = ""
        dump(exchange, to: &text)
        #expect(text.contains("5000 ms waiting for a connection"))
    }

    @Test("Each exchange of a call has its own wait, even if they run concurrently")
    func severalExchanges() async throws {
        let connections = Journal()
        let transport = ScriptedTransport { _, index in
            .answer { request, context in
                context.report(.connectionAwaited)
                try await context.clock.sleep(for: .seconds(index + 1))
                context.report(.connection())
                connections.add("connected")
                return PipelineResponse(request: request, statusCode: 200)
            }
        }
        let waits = Journal()
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [
                .intercept { request, context, next in
                    async let other = next(request)
                    let response = try await next(request)
                    _ = try await other
                    for exchange in context.exchanges { waits.add("\(exchange.connectionWait ?? .zero)") }
                    return response
                }
            ],
            configuration: .init(clock: clock)
        )
        let call = Task { try await provider.request(TestTarget()) }
        try await clock.waitForSleepers(2)
        try await clock.advanceToNextSleeper()
        await eventually { connections.entries.count == 1 }
        try await clock.advanceToNextSleeper()
        _ = try await call.value
        #expect(waits.entries.sorted() == ["1.0 seconds", "2.0 seconds"])
    }
}
