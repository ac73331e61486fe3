import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// The samples of the guide RetriesAndTimeouts.
enum RetriesSamples {
    typealias Shop = TargetsSamples.Shop
    typealias Item = TargetsSamples.Item
    typealias Order = TargetsSamples.Order

    static func provider(_ transport: any Transport) -> Provider<Shop> {
        // sample: plugins
        let provider = Provider<Shop>(
            transport: transport,
            plugins: [TimeoutPlugin(attempt: .seconds(10), total: .seconds(30), idle: .seconds(5)), RetryPlugin()]
        )
        // end
        return provider
    }

    static func options() -> (once: RequestOptions, patient: RequestOptions) {
        // sample: options
        let once = RequestOptions { $0.retry = .never }
        let patient = RequestOptions {
            let policy = RetryPolicy(statusCodes: [409, 503])
            $0.retry = .init(maximumAttempts: 6, policy: policy, backoff: .constant(.seconds(1)))
            $0.totalTimeout = .seconds(120)
        }
        // end
        return (once, patient)
    }

    static func policy() -> RetryPlugin {
        let policy = RetryPolicy(statusCodes: [429, 503]) { outcome in
            outcome.response?.header("X-Shop-State") == "restarting" ? .retry : nil
        }
        return RetryPlugin(policy: policy)
    }

    static func pay(_ provider: Provider<Shop>, _ order: Order) async throws -> PipelineResponse {
        // sample: key
        let options = RequestOptions { $0.idempotencyKey = .generated }
        let response = try await provider.request(.order(order), options: options)
        // end
        return response
    }

    static func title(_ provider: Provider<Shop>) async throws -> String {
        do {
            return try await provider.request(.item(id: 7), as: Item.self).title
        } catch let error as PipelineError where error.status == .tooManyRequests {
            guard let wait = error.response?.retryAfter(now: Date()) else { throw error }
            return "Try again in \(wait.components.seconds) seconds."
        }
    }
}

@Suite("The samples of the guide RetriesAndTimeouts", .watched)
struct RetriesSamplesTests {
    private typealias Shop = RetriesSamples.Shop
    private typealias Order = RetriesSamples.Order

    private let clock = ManualClock()

    private func provider(_ transport: ScriptedTransport, _ plugins: [any PluginType]) -> Provider<Shop> {
        Provider(transport: transport, plugins: plugins, configuration: .init(clock: clock))
    }

    // MARK: Samples that are tests

    @Test("A POST with an idempotency key is retried after the wait that the server asks for")
    func virtualRetry() async throws {
        // sample: test retry
        let clock = ManualClock()
        let server = ScriptedTransport([.status(503, headers: [.retryAfter: "7"]), .status(201)])
        let provider = Provider<Shop>(transport: server, plugins: [.standard], configuration: .init(clock: clock))
        let options = RequestOptions { $0.idempotencyKey = .generated }
        let response = try await clock.run { try await provider.request(.order(Order(item: 3)), options: options) }
        #expect(response.statusCode == 201 && clock.now.offset == .seconds(7))
        let keys = server.sent.compactMap { $0.header("Idempotency-Key") }
        #expect(keys.count == 2 && keys.first == keys.last)
        // end
    }

    @Test("An attempt that times out is retried")
    func virtualTimeout() async throws {
        // sample: test timeout
        let (clock, server) = (ManualClock(), ScriptedTransport([.hang, .status(200)]))
        let plugins: [any PluginType] = [TimeoutPlugin(attempt: .seconds(10)), RetryPlugin(backoff: .immediate)]
        let provider = Provider<Shop>(transport: server, plugins: plugins, configuration: .init(clock: clock))
        async let response = provider.request(.item(id: 7))
        #expect(try await clock.advanceToNextSleeper() == .seconds(10))
        #expect(try await response.exchanges.map(\.failure) == [.timeout(.attempt), nil])
        // end
    }

    @Test("A wait that would not end before the deadline does not begin")
    func deadline() async throws {
        let provider = Provider<Shop>(
            transport: ScriptedTransport(always: .status(503, headers: [.retryAfter: "20"])),
            plugins: [TimeoutPlugin(total: .seconds(10)), RetryPlugin()],
            configuration: .init(clock: ManualClock())
        )

        let error = await #expect(throws: PipelineError.self) { try await provider.send(.item(id: 7)) }
        #expect(error?.status == .serviceUnavailable)
        #expect(error?.exchanges.map(\.refusedRetry) == [.deadline])
    }

    @Test("A fast response is delayed until the minimum has passed")
    func minimum() async throws {
        let clock = ManualClock()
        let provider = Provider<Shop>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [MinimumDurationPlugin(.milliseconds(400)), RetryPlugin()],
            configuration: .init(clock: clock)
        )

        async let response = provider.request(.item(id: 7))
        #expect(try await clock.advanceToNextSleeper() == .milliseconds(400))
        #expect(try await response.statusCode == 200)
    }

    // MARK: Other samples and statements

    @Test("The first sample limits each attempt, idle bodies and the call")
    func plugins() async throws {
        let silent = PipelineBody.stream(AsyncStream<Data> { _ in })
        let transport = ScriptedTransport([.status(200, body: silent), .status(200)])
        let sample = RetriesSamples.provider(transport)
        #expect(sample.explain().findings.isEmpty)
        let provider = provider(transport, [sample.plugins[0]])
        let call = Task { try await provider.request(.item(id: 7)) }
        // The timers of the call, the attempt, and the body.
        try await clock.waitForSleepers(3)
        #expect(try await clock.advanceToNextSleeper() == .seconds(5))
        let error = await #expect(throws: PipelineError.self) { try await call.value }
        #expect(error?.code == .timeout(.idle))
        #expect(transport.sent.count == 1)
    }

    @Test("The standard stack can be changed as the guide says, without a finding")
    func standard() {
        let plugins = PluginStack.standard.inserting(TimeoutPlugin(total: .seconds(30)), before: TimeoutPlugin.self)
        let provider = Provider<Shop>(transport: ScriptedTransport(always: .status(200)), plugins: [plugins])
        #expect(provider.plugins.count { $0 is RetryPlugin || $0 is TimeoutPlugin } == 3)
        #expect(provider.explain().findings.isEmpty)
    }

    @Test("The idle timeout of the inner of two plugins applies", arguments: [true, false])
    func innerTimeout(isLongerInside: Bool) async throws {
        let silent = PipelineBody.stream(AsyncStream<Data> { _ in })
        let timeouts: [Duration] = isLongerInside ? [.seconds(5), .seconds(9)] : [.seconds(9), .seconds(5)]
        let provider = provider(
            ScriptedTransport([.status(200, body: silent)]),
            timeouts.map { TimeoutPlugin(idle: $0) }
        )
        let call = Task { try await provider.request(.item(id: 7)) }
        #expect(try await clock.advanceToNextSleeper() == (isLongerInside ? .seconds(9) : .seconds(5)))
        let error = await #expect(throws: PipelineError.self) { try await call.value }
        #expect(error?.code == .timeout(.idle))
    }

    @Test("A policy can retry a POST that the server has not processed")
    func unprocessed() async throws {
        let policy = RetryPolicy { _ in .retryUnprocessed }
        for (hasPolicy, count) in [(true, 3), (false, 1)] {
            let transport = ScriptedTransport(always: .failure(.connectionLost))
            let retry = RetryPlugin(policy: hasPolicy ? policy : RetryPolicy(), backoff: .immediate)
            let provider = provider(transport, [retry])
            await #expect(throws: PipelineError.self) { try await provider.request(.order(Order(item: 3))) }
            #expect(transport.sent.count == count)
        }
    }

    @Test("The options of a call change how often it is retried")
    func options() async throws {
        let transport = ScriptedTransport(always: .status(503))
        let provider = provider(transport, [TimeoutPlugin(total: .seconds(2)), RetryPlugin()])
        let options = RetriesSamples.options()
        await #expect(throws: PipelineError.self) {
            try await provider.send(.item(id: 7), options: options.once)
        }
        #expect(transport.sent.count == 1)
        let call = Task { try await provider.send(.item(id: 7), options: options.patient) }
        for _ in 1...5 {
            // The timer of the call, and the wait before the retry.
            try await clock.waitForSleepers(2)
            #expect(try await clock.advanceToNextSleeper() == .seconds(1))
        }
        let error = await #expect(throws: PipelineError.self) { try await call.value }
        #expect(error?.exchanges.count == 6)
        #expect(error?.exchanges.last?.refusedRetry == .attemptsUsedUp)
    }

    @Test("A policy can retry a response with another status", arguments: ["restarting", "closed"])
    func policy(state: String) async throws {
        let name = try #require(HTTPField.Name("X-Shop-State"))
        let transport = ScriptedTransport([.status(500, headers: [name: state]), .status(200)])
        let provider = provider(transport, [RetriesSamples.policy()])
        let options = RequestOptions { $0.retry = .init(backoff: .immediate) }
        let response = try? await provider.request(.item(id: 7), options: options)
        #expect(response?.statusCode == (state == "restarting" ? 200 : 500))
        #expect(transport.sent.count == (state == "restarting" ? 2 : 1))
    }

    @Test("A POST is retried only with a key, and the error says why it was not", arguments: [true, false])
    func post(hasKey: Bool) async throws {
        let transport = ScriptedTransport([.status(503), .status(201)])
        let provider = provider(transport, [RetryPlugin(backoff: .immediate)])
        if hasKey {
            #expect(try await RetriesSamples.pay(provider, Order(item: 3)).statusCode == 201)
        } else {
            let error = await #expect(throws: PipelineError.self) {
                try await provider.send(.order(Order(item: 3)))
            }
            #expect(error?.description.contains("; not retried: methodNotIdempotent") == true)
        }
        #expect(transport.sent.count == (hasKey ? 2 : 1))
    }

    @Test("A response that asks for too long a wait is not retried, and the wait can be shown")
    func retryAfter() async throws {
        let transport = ScriptedTransport(always: .status(429, headers: [.retryAfter: "120"]))
        let text = try await RetriesSamples.title(provider(transport, [RetryPlugin()]))
        #expect(text == "Try again in 120 seconds.")
        #expect(transport.sent.count == 1)
    }

    @Test(
        "Failures are retried as the table says",
        arguments: [
            (.connectionLost, 3, 1), (.truncated, 3, 1), (.timeout(.attempt), 3, 1), (.timeout(.head), 3, 1),
            (.timeout(.idle), 3, 1), (.timeout(.write), 3, 1), (.offline, 3, 3), (.dns, 3, 3),
            (.connect(.refused), 3, 3), (.timeout(.connect), 3, 3), (.timeout(.pool), 1, 1), (.timeout(.total), 1, 1),
            (.tls(.certificate), 1, 1),
        ] as [(PipelineError.Code, Int, Int)]
    )
    func table(code: PipelineError.Code, getCount: Int, postCount: Int) async throws {
        for (target, count) in [(Shop.item(id: 7), getCount), (.order(Order(item: 3)), postCount)] {
            let transport = ScriptedTransport(always: .failure(code))
            let provider = provider(transport, [RetryPlugin(backoff: .immediate)])
            let error = await #expect(throws: PipelineError.self) { try await provider.request(target) }
            #expect(error?.code == code)
            #expect(transport.sent.count == count)
        }
    }
}
