import Foundation
import Pipeline
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("RateLimitPlugin: shared limits", .tags(.concurrent), .watched)
struct RateLimitSharedTests {
    /// A store in memory on a manual clock, which a test can make fail.
    private final class Store: RateLimitStore {
        struct State {
            var due: [String: ManualClock.Instant] = [:]
        }

        let clock: ManualClock
        let latency: Duration
        let isAway = Mutex(false)
        let requestCount = Mutex(0)
        let state = Mutex(State())

        init(_ clock: ManualClock, latency: Duration = .zero) {
            self.clock = clock
            self.latency = latency
        }

        func reserve(
            _ cost: Int,
            of key: String,
            interval: Duration,
            burst: Int,
            within maximumWait: Duration?
        ) async throws -> Duration {
            requestCount.withLock { $0 += 1 }
            if latency > .zero { try await clock.sleep(for: latency) }
            if isAway.withLock({ $0 }) { throw CocoaError(.fileReadUnknown) }
            return state.withLock { state in
                let now = clock.now
                let due = state.due[key]
                let start = max(now, due?.advanced(by: interval * (cost - burst)) ?? now)
                let wait = now.duration(to: start)
                if let maximumWait, wait > maximumWait { return wait }
                state.due[key] = max(start, due ?? now).advanced(by: interval * cost)
                return wait
            }
        }
    }

    private static let limit = RateLimit(100, per: .seconds(1))

    private func bench(
        _ server: CountingServer,
        _ store: Store,
        _ plugins: [any PluginType]
    ) -> RateLimitBench {
        RateLimitBench(server, plugins, clock: store.clock)
    }

    @Test("Several plugins share the limit through the store, and use as much of it as is safe")
    func fleet() async {
        let clock = ManualClock()
        let store = Store(clock, latency: .milliseconds(1))
        let server = CountingServer(delay: 0...50_000)
        let benches = (0..<8).map { _ in bench(server, store, [RateLimitPlugin(Self.limit, store: store)]) }
        await clock.run {
            await withTaskGroup { group in
                for bench in benches {
                    for _ in 0..<250 { group.addTask { #expect(await bench.call() == "200") } }
                }
            }
        }
        #expect(server.count == 2_000)
        #expect(server.highestCount(in: .seconds(1)) <= 100)
        #expect(server.rate >= 95, "\(server.rate)")
    }

    @Test("Without the store, the limit holds within the process")
    func fallback() async {
        let store = Store(ManualClock())
        store.isAway.withLock { $0 = true }
        let server = CountingServer(delay: 0...50_000)
        let outcomes = await bench(server, store, [RateLimitPlugin(Self.limit, store: store)]).calls(1_000)
        #expect(outcomes.allSatisfy { $0 == "200" })
        #expect(server.highestCount(in: .seconds(1)) == 100)
    }

    @Test("V07: while the store is away, each process uses its share of the limit, or sends nothing")
    func failurePolicy() async {
        for (policy, count) in [(RateLimitPlugin.StoreFailurePolicy.local(share: 0.25), 25), (.refuse, 0)] {
            let store = Store(ManualClock())
            store.isAway.withLock { $0 = true }
            let server = CountingServer(delay: 0...50_000)
            let plugin = RateLimitPlugin(Self.limit, store: store, onStoreFailure: policy)
            let outcomes = await bench(server, store, [plugin]).calls(100)
            #expect(outcomes.allSatisfy { $0 == (count == 0 ? "limit.rate" : "200") })
            #expect(server.highestCount(in: .seconds(1)) <= count)
        }
    }

    @Test("V07: a failure of the store is reported, and the plugin is degraded until the store responds")
    func reported() async {
        let store = Store(ManualClock())
        let errors = Mutex<[String]>([])
        let plugin = RateLimitPlugin(Self.limit, store: store) { error in
            errors.withLock { $0.append("\(type(of: error))") }
        }
        let bench = bench(CountingServer(), store, [plugin])
        #expect(await bench.calls(1) == ["200"])
        #expect(plugin.health(on: bench.pipelineClock).status == .healthy)
        store.isAway.withLock { $0 = true }
        #expect(await bench.calls(2) == ["200", "200"])
        #expect(errors.withLock { $0 } == ["CocoaError"])
        let health = plugin.health(on: bench.pipelineClock)
        #expect(health.status == .degraded && health.details["store"] == "unavailable: CocoaError")
        store.isAway.withLock { $0 = false }
        store.clock.advance(by: .seconds(2))
        #expect(await bench.calls(1) == ["200"])
        #expect(plugin.health(on: bench.pipelineClock).status == .healthy)
    }

    @Test("A store that goes away and returns causes neither failures nor requests above the limit")
    func flaky() async {
        let store = Store(ManualClock())
        let server = CountingServer(delay: 0...50_000) { request, context in
            let second = Int(context.start.duration(to: context.clock.now) / .seconds(1))
            store.isAway.withLock { $0 = second % 2 == 1 }
            return PipelineResponse(request, 200)
        }
        let outcomes = await bench(server, store, [RateLimitPlugin(Self.limit, store: store)]).calls(1_000)
        #expect(outcomes.allSatisfy { $0 == "200" })
        #expect(server.highestCount(in: .seconds(1)) <= 100)
    }

    @Test("Requests that find the gate closed after the store has admitted them return their permits, and wait again")
    func returned() async {
        let store = Store(ManualClock(), latency: .milliseconds(100))
        let server = CountingServer { request, _ in
            request.head.path == "/first"
                ? PipelineResponse(request, 429, [.retryAfter: "1"]) : PipelineResponse(request, 200)
        }
        let limit = RateLimit(4, per: .seconds(1))
        let bench = bench(server, store, [RateLimitPlugin(limit, maximumWait: .seconds(30), store: store)])
        let outcomes = await bench.clock.run {
            async let first = bench.call("/first")
            async let others = withTaskGroup(of: String.self) { group in
                try? await bench.clock.sleep(for: .milliseconds(50))
                for _ in 0..<3 { group.addTask { await bench.call() } }
                return await group.reduce(into: []) { $0.append($1) }
            }
            return await [first] + others
        }
        #expect(outcomes == ["429", "200", "200", "200"])
        #expect(bench.server.count == 4)
        #expect(await bench.calls(8) == Array(repeating: "200", count: 8))
    }

    @Test("V05: when a circuit opens, requests that wait for their moment in the store fail at once, and none is sent")
    func circuit() async {
        let limit = RateLimit(40, per: .seconds(10), burst: 20)
        let store = Store(ManualClock())
        // Another process uses up the burst, so that each request waits for a moment of its own.
        await bench(CountingServer(), store, [RateLimitPlugin(limit, store: store)]).calls(20)
        let server = CountingServer { request, context in
            try await context.clock.sleep(for: .milliseconds(100))
            return PipelineResponse(request, 500)
        }
        let plugin = RateLimitPlugin(limit, store: store)
        let bench = bench(server, store, [CircuitBreakerPlugin.touchy(), plugin])
        let outcomes = await bench.calls(20)
        #expect(outcomes.count { $0 == "500" } == 1 && outcomes.count { $0 == "circuitOpen" } == 19)
        #expect(server.count == 1)
        #expect(bench.start.duration(to: bench.pipelineClock.now) < .seconds(1))
        // They have returned their permits.
        bench.clock.advance(by: .seconds(60))
        #expect(await bench.calls(1) == ["500"])
    }

    @Test("V05: a request whose circuit opens while the store responds is not sent")
    func circuitDuringRoundTrip() async {
        let breaker = CircuitBreakerPlugin.touchy()
        let store = Store(ManualClock(), latency: .milliseconds(20))
        let bench = bench(CountingServer(), store, [breaker, RateLimitPlugin(Self.limit, store: store)])
        await bench.clock.run {
            async let outcome = bench.call()
            try? await bench.clock.sleep(for: .milliseconds(10))
            breaker.isolate()
            #expect(await outcome == "circuitOpen")
        }
        #expect(bench.server.count == 0)
    }

    @Test("A wait of the store that outlasts maximumWait or the deadline is refused")
    func refusals() async {
        let limit = RateLimit(1, per: .seconds(10))
        for plugins in [
            { [RateLimitPlugin(limit, maximumWait: .seconds(5), store: $0)] },
            { [TimeoutPlugin(total: .seconds(5)), RateLimitPlugin(limit, store: $0)] },
        ] as [(Store) -> [any PluginType]] {
            let store = Store(ManualClock())
            #expect(await bench(CountingServer(), store, plugins(store)).calls(1) == ["200"])
            #expect(await bench(CountingServer(), store, plugins(store)).calls(1) == ["limit.rate"])
            #expect(store.clock.now.offset == .zero)
        }
    }

    @Test(
        "A call that waits for its reservation sends nothing if the gate closes meanwhile, or if it is cancelled"
    )
    func interrupted() async {
        let store = Store(ManualClock())
        let server = CountingServer { request, context in
            guard request.head.path == "/0" else { return PipelineResponse(request, 200) }
            // Until then, the second call has passed the line, and waits for its reservation.
            try await context.clock.sleep(for: .milliseconds(700))
            return PipelineResponse(request, 429, [.retryAfter: "30"])
        }
        let plugin = RateLimitPlugin(RateLimit(10, per: .seconds(10)), store: store)
        let bench = bench(server, store, [plugin])
        #expect(await bench.calls(4) == ["429", "200", "200", "200"])
        let arrivals = server.arrivals(after: bench.start)
        #expect(arrivals[0] == 0)
        #expect(arrivals[1] >= 30)
        await bench.clock.run {
            await withTaskGroup { group in
                for _ in 0..<3 { group.addTask { _ = await bench.call() } }
                try? await bench.clock.sleep(for: .milliseconds(700))
                group.cancelAll()
            }
            #expect(await bench.call() == "200")
        }
        #expect(server.count == 5)
    }

    @Test("The name of a partition in the store is that of the authority, and otherwise a hash")
    func keys() async {
        let store = Store(ManualClock())
        let secret = TrafficPartition { _, _ in "secret" }
        for partition in [.authority, .shared, secret] {
            let plugin = RateLimitPlugin(Self.limit, partition: partition, store: store)
            await bench(CountingServer(), store, [plugin]).calls(1)
        }
        let keys = store.state.withLock { Set($0.due.keys) }
        // printf secret | sha256sum
        let hash = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b"
        #expect(keys == Set(["https://a.test", "all calls", hash].map { "\($0) 100/1000000000/1" }))
    }

    @Test("Plugins with different limits do not share them")
    func differentLimits() async {
        let store = Store(ManualClock())
        let server = CountingServer()
        for (count, seconds) in [(1, 10), (1, 5), (2, 10)] {
            let limit = RateLimit(count, per: .seconds(seconds))
            let plugin = RateLimitPlugin(limit, maximumWait: .zero, store: store)
            #expect(await bench(server, store, [plugin]).calls(1) == ["200"])
        }
    }

    @Test("A request whose reservation comes later than the jitter is reserved again, at most twice")
    func lateReservations() async {
        for (milliseconds, count) in [(50, 1), (51, 3), (251, 1)] {
            let store = Store(ManualClock(), latency: .milliseconds(milliseconds))
            let plugin = RateLimitPlugin(Self.limit, store: store)
            #expect(await bench(CountingServer(), store, [plugin]).calls(1) == ["200"])
            #expect(store.requestCount.withLock { $0 } == count)
        }
    }

    @Test("A store that does not respond holds a request up for 250 ms, and is then not used for a second")
    func hangingStore() async throws {
        let store = Store(ManualClock(), latency: .seconds(60))
        let bench = bench(CountingServer(), store, [RateLimitPlugin(Self.limit, store: store)])
        try await store.clock.run {
            for _ in 0..<3 { #expect(await bench.call() == "200") }
            try await store.clock.sleep(for: .seconds(1))
            #expect(await bench.call() == "200")
        }
        let arrivals = bench.server.arrivals(after: bench.start)
        #expect(arrivals.first == 0.25)
        #expect(arrivals[2] < 0.28)
        #expect(arrivals[3] > 1.5)
        #expect(store.requestCount.withLock { $0 } == 2)
    }

    @Test("Calls that must not wait are not refused because of the reservations of others, and a burst needs no pause")
    func reservations() async {
        let limit = RateLimit(20, per: .seconds(1), burst: 10)
        for maximumWait in [.zero, nil] as [Duration?] {
            let store = Store(ManualClock(), latency: .milliseconds(1))
            let plugin = RateLimitPlugin(limit, maximumWait: maximumWait, store: store)
            let bench = bench(CountingServer(), store, [plugin])
            #expect(await bench.calls(10) == Array(repeating: "200", count: 10))
            #expect(bench.server.arrivals(after: bench.start).allSatisfy { $0 == 0.001 })
        }
    }

    @Test("A high priority overtakes the calls that wait in line, because few have reservations at a time")
    func priorities() async {
        let store = Store(ManualClock())
        let server = CountingServer()
        let benches = (0..<8).map { _ in bench(server, store, [RateLimitPlugin(Self.limit, store: store)]) }
        await store.clock.run {
            await withTaskGroup { group in
                for bench in benches {
                    for _ in 0..<30 { group.addTask { _ = await bench.call("/low", .init { $0.priority = .low }) } }
                }
                group.addTask {
                    try? await store.clock.sleep(for: .milliseconds(500))
                    _ = await benches[0].call("/high", .init { $0.priority = .high })
                }
            }
        }
        // Those sent in 500 ms, five reservations of each plugin, and the next ones of the others.
        let place = server.paths.firstIndex(of: "/high") ?? 999
        #expect((48...100).contains(place), "\(place)")
    }
}
