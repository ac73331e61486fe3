import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("The attempt timeout and the connection", .tags(.concurrent), .watched)
struct AttemptTimerTests {
    private let clock = ManualClock()

    /// Sends a request with an attempt timeout to a transport that reports its connection in the closure.
    private func call(
        attempt: Duration? = .seconds(1),
        through plugins: [any PluginType] = [],
        _ answer: @escaping @Sendable (PipelineRequest, PipelineContext) async throws -> PipelineResponse
    ) -> Task<Result<PipelineResponse, PipelineError>, Never> {
        let transport = ScriptedTransport(always: .answer(answer))
        let provider = Provider<TestTarget>(transport: transport, plugins: plugins, configuration: .init(clock: clock))
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

    /// Advances the clock while the transport and the attempt timer sleep.
    private func advance(bySteps steps: Duration...) async throws {
        for step in steps {
            try await clock.waitForSleepers(2)
            clock.advance(by: step)
        }
    }

    private let fiveSeconds = Array(repeating: Duration.seconds(1), count: 5)

    @Test(
        "C14 The attempt timeout starts when the transport reports its connection, also with exchange plugins",
        arguments: [false, true]
    )
    func startsWithConnection(hasExchangePlugin: Bool) async throws {
        let passing: any PluginType = .exchange { request, _, send in try await send(request) }
        let call = call(
            through: hasExchangePlugin ? [passing] : [],
            PipelineContextConnectionTests.late(.milliseconds(900))
        )
        for step in fiveSeconds { try await advance(bySteps: step) }
        try await advance(bySteps: .milliseconds(900))
        let exchange = try #require(try await call.value.get().exchanges.first)
        #expect(exchange.connectionWait == .seconds(5))
        #expect(exchange.duration == .milliseconds(5_900))
    }

    @Test("C14 An attempt that takes too long once it has a connection fails with timeout.attempt")
    func endsAfterConnection() async throws {
        let call = call(PipelineContextConnectionTests.late(.seconds(60)))
        for step in fiveSeconds { try await advance(bySteps: step) }
        try await advance(bySteps: .milliseconds(999), .milliseconds(1))
        guard case .failure(let error) = await call.value else {
            Issue.record("the attempt was not ended")
            return
        }
        #expect(error.code == .timeout(.attempt))
        #expect(error.exchanges.map(\.connectionWait) == [.seconds(5)])
        #expect(error.exchanges.map(\.duration) == [.seconds(6)])
    }

    @Test("The first connection starts the attempt timeout, and waiting for another one counts towards it")
    func firstConnectionCounts() async throws {
        let call = call { request, context in
            context.report(.connectionAwaited)
            context.report(.connection())
            context.report(.connectionAwaited)
            try await context.clock.sleep(for: .milliseconds(600))
            context.report(.connection())
            try await context.clock.sleep(for: .milliseconds(600))
            return PipelineResponse(request: request, statusCode: 200)
        }
        try await advance(bySteps: .milliseconds(600), .milliseconds(400))
        guard case .failure(let error) = await call.value else {
            Issue.record("the attempt was not ended")
            return
        }
        #expect(error.code == .timeout(.attempt))
        #expect(error.exchanges.map(\.connectionWait) == [.zero])
    }

    @Test("If a transport returns a response without reporting a connection, the timeout covers the body")
    func bodyWithoutConnection() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Never.self)
        let call = call { request, context in
            context.report(.connectionAwaited)
            let silence = AsyncStream<Data>(unfolding: {
                begin.finish()
                let never = AsyncStream<Never> { _ in }
                for await _ in never {}
                return nil
            })
            return PipelineResponse(request: request, head: HTTPResponse(status: .ok), body: .stream(silence))
        }
        for await _ in begun {}
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        guard case .failure(let error) = await call.value else {
            Issue.record("the attempt was not ended")
            return
        }
        #expect(error.code == .timeout(.attempt))
    }
}
