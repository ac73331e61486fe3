import Pipeline
import PipelineResilience
import PipelineTesting
import TestSupport
import Testing

@Suite("ConcurrencyLimitPlugin under load", .tags(.concurrent), .watched)
struct ConcurrencyLimitLoadTests {
    private struct Outcome: Sendable {
        let latency: Double
        let isSuccess: Bool
    }

    /// Sends calls at random moments to a server with a capacity of 100 per second, and returns how they ended.
    private func overload(
        _ plugins: [any PluginType],
        rate: Double = 300,
        seconds: Double = 15,
        spread: QueueingServer.Spread
    ) async -> (outcomes: [Outcome], server: QueueingTransport) {
        let clock = ManualClock()
        let server = QueueingTransport(
            QueueingServer(workers: 10, serviceTime: 0.1, spread: spread, seed: 1),
            on: clock
        )
        let provider = Provider<URLTarget>(
            transport: server,
            plugins: [TimeoutPlugin(total: .seconds(1))] + plugins,
            configuration: .init(clock: clock)
        )
        let results = Results<Outcome>()
        await clock.run {
            await withTaskGroup(of: Void.self) { group in
                var random = PipelineRandom.seeded(2)
                for _ in 0..<Int(rate * seconds) {
                    let arrival = Duration.seconds(Double.random(in: 0..<seconds, using: &random))
                    group.addTask {
                        try? await clock.sleep(for: arrival)
                        let isSuccess = (try? await provider.request(URLTarget("https://a.test/"))) != nil
                        results.add(.init(latency: (clock.now.offset - arrival) / .seconds(1), isSuccess: isSuccess))
                    }
                }
            }
        }
        return (results.all, server)
    }

    @Test(
        "Offered three times its capacity, a server with a limit responds in time at 95 % of its capacity",
        arguments: [
            QueueingServer.Spread.none, .even, .exponential,
        ]
    )
    func overload(spread: QueueingServer.Spread) async {
        let capacity = 100.0 * 15
        let (outcomes, server) = await overload([ConcurrencyLimitPlugin(.fixed(10))], spread: spread)
        let successes = outcomes.filter(\.isSuccess)
        #expect(Double(successes.count) >= 0.95 * capacity, "\(successes.count)")
        #expect(server.mostInFlight == 10)
        // The server works on few requests in vain.
        #expect(server.arrivalCount < successes.count * 104 / 100)
        let latencies = successes.map(\.latency).sorted()
        #expect(latencies[latencies.count * 99 / 100] <= 1)
    }

    @Test("An adaptive limit does the same for a server that it does not know")
    func adaptiveOverload() async {
        let (outcomes, _) = await overload([ConcurrencyLimitPlugin(.adaptive())], seconds: 30, spread: .even)
        let count = outcomes.count { $0.isSuccess }
        // In the first seconds, it lets 200 requests through, which is too many for this server.
        #expect(Double(count) >= 0.8 * 100 * 30, "\(count)")
    }

    @Test("Without a limit, the same server works mostly for callers that have left")
    func overloadWithoutLimit() async {
        let (outcomes, server) = await overload([], spread: .even)
        let count = outcomes.count { $0.isSuccess }
        #expect(Double(count) <= 0.5 * 100 * 15, "\(count)")
        #expect(server.arrivalCount == outcomes.count)
    }

    private struct Served: Sendable {
        let priority: TrafficPriority
        let number: Int
        let moment: Double
        let deadline: Double
        let isAdmitted: Bool
    }

    /// Keeps 30 callers of each priority busy, and records when each call was admitted or refused.
    private func saturate(
        _ plugins: [any PluginType],
        for length: Duration
    ) async -> (served: [Served], mostInFlight: Int) {
        let clock = ManualClock()
        let server = QueueingTransport(
            QueueingServer(workers: 4, serviceTime: 0.1, spread: .even, seed: 3),
            on: clock
        )
        let results = Results<Served>()
        let numbers = CallCounter()
        let provider = Provider<URLTarget>(transport: server, plugins: plugins, configuration: .init(clock: clock))
        await clock.run {
            await withTaskGroup(of: Void.self) { group in
                for priority in [TrafficPriority.low, .normal, .high] {
                    for _ in 0..<30 {
                        group.addTask {
                            while clock.now.offset < length {
                                let deadline = clock.now.offset / .seconds(1) + 4
                                let number = numbers.next()
                                let record = { @Sendable (isAdmitted: Bool) in
                                    let moment = clock.now.offset / .seconds(1)
                                    results.add(
                                        .init(
                                            priority: priority,
                                            number: number,
                                            moment: moment,
                                            deadline: deadline,
                                            isAdmitted: isAdmitted
                                        )
                                    )
                                }
                                let options = RequestOptions { options in
                                    options.priority = priority
                                    options[Admission.self] = { record(true) }
                                }
                                do {
                                    _ = try await provider.request(URLTarget("https://a.test/"), options: options)
                                } catch {
                                    record(false)
                                }
                            }
                        }
                    }
                }
            }
        }
        return (results.all, server.mostInFlight)
    }

    private enum Admission: RequestOptions.Key {
        static let defaultValue: @Sendable () -> Void = {}
    }

    /// Reports each request that passes it.
    private struct AdmissionPlugin: Stage.Exchange, OptionHandling {
        let handledOptions: [RequestOptions.PluginOption] = [.priority]

        func exchange(
            _ request: PipelineRequest,
            context: PipelineContext,
            send: Stage.Send
        ) async throws -> PipelineResponse {
            context.options[Admission.self]()
            return try await send(request)
        }
    }

    @Test("Over two saturated minutes, each priority gets its share, in order and never after a deadline")
    func fairness() async {
        let limit = ConcurrencyLimitPlugin(.fixed(4), maximumWait: .seconds(4))
        let (served, mostInFlight) = await saturate([limit, AdmissionPlugin()], for: .seconds(120))
        #expect(mostInFlight == 4)
        let admitted = served.filter(\.isAdmitted)
        for priority in [TrafficPriority.low, .normal, .high] {
            let all = served.filter { $0.priority == priority }
            let share = Double(all.count { $0.isAdmitted }) / Double(admitted.count)
            #expect(priority == .high ? share > 0.75 : (0.099...0.12).contains(share), "\(priority) \(share)")
            // In the order of arrival, so that none waits while permits go to later ones.
            let numbers = all.filter(\.isAdmitted).map(\.number)
            #expect(numbers == numbers.sorted())
            #expect(all.allSatisfy { $0.isAdmitted ? $0.moment < $0.deadline : $0.moment <= $0.deadline + 1e-6 })
        }
        #expect(served.contains { !$0.isAdmitted })
        let without = await saturate([AdmissionPlugin()], for: .seconds(30))
        #expect(without.mostInFlight > 4)
        #expect(without.served.count { $0.priority == .high } * 2 < without.served.count)
    }

    /// An object that a plugin keeps alive.
    private final class Marker: Sendable {
        let key = "key"
    }

    @Test("A storm of cancellations leaves no permit in use, and nothing alive once the provider is released")
    func storm() async {
        weak var marker: Marker?
        weak var transport: QueueingTransport?
        for seed in 1...5 {
            await {
                let clock = ManualClock()
                let (kept, server) = (
                    Marker(),
                    QueueingTransport(
                        QueueingServer(workers: 5, serviceTime: 0.05, spread: .exponential, seed: UInt64(seed)),
                        on: clock
                    )
                )
                (marker, transport) = (kept, server)
                let limit = ConcurrencyLimitPlugin(.fixed(5), partition: .init { _, _ in kept.key })
                let provider = Provider<URLTarget>(
                    transport: server,
                    plugins: [limit],
                    configuration: .init(clock: clock)
                )
                await clock.run {
                    await withTaskGroup(of: Void.self) { group in
                        for _ in 0..<200 {
                            group.addTask { _ = try? await provider.request(URLTarget("https://a.test/")) }
                        }
                        // 5 are in progress, and the others wait.
                        try? await clock.sleep(for: .milliseconds(seed))
                        #expect(provider.health.map(\.status) == [.degraded])
                        group.cancelAll()
                    }
                    #expect(provider.health.map(\.status) == [.healthy])
                    // All five permits are there again.
                    let before = server.arrivalCount
                    async let calls: Void = withTaskGroup(of: Void.self) { group in
                        for _ in 0..<10 {
                            group.addTask { _ = try? await provider.request(URLTarget("https://a.test/")) }
                        }
                    }
                    try? await clock.sleep(for: .nanoseconds(1))
                    #expect(server.inFlight == 5)
                    await calls
                    #expect(server.arrivalCount == before + 10)
                }
                #expect(server.mostInFlight == 5)
                #expect(clock.sleeperCount == 0)
            }()
            #expect(marker == nil)
            #expect(transport == nil)
        }
    }
}
