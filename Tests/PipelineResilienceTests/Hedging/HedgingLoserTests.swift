import Foundation
import Pipeline
import PipelineCaching
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("HedgingPlugin: the copy that loses", .tags(.concurrent), .watched)
struct HedgingLoserTests {
    private static let list = PublicSuffixList("test")

    private let clock = ManualClock()
    private let cookies = MemoryCookieStore()

    /// Responds to the first copy after a second, even if the exchange is cancelled before, and to the second at once.
    ///
    /// Each response sets a cookie and may be stored.
    private static let stubborn = ScriptedTransport(
        always: .answer { request, context in
            let isFirst = context.attempt == 1
            if isFirst { try? await context.clock.sleep(for: .seconds(1)) }
            let name = isFirst ? "loser" : "winner"
            var fields: HTTPFields = [
                .setCookie: "\(name)=1", .cacheControl: isFirst ? "max-age=60" : "no-store",
            ]
            if isFirst { fields[.retryAfter] = "60" }
            return PipelineResponse(
                request: request,
                statusCode: isFirst ? 503 : 200,
                headers: fields,
                data: Data(name.utf8)
            )
        }
    )

    private func provider(_ transport: ScriptedTransport, _ plugins: [any PluginType]) -> Provider<Ask> {
        Provider(
            transport: transport,
            plugins: [HedgingPlugin(after: .fixed(.milliseconds(50)))] + plugins,
            configuration: .init(clock: clock)
        )
    }

    @Test("Its response sets no cookie, is not stored, and reaches no exchange plugin")
    func effects() async throws {
        let seen = Mutex<[Int]>([])
        let observer: any PluginType = .exchange { request, _, send in
            let response = try await send(request)
            seen.withLock { $0.append(response.statusCode) }
            return response
        }
        let store = MemoryCacheStore()
        let provider = provider(
            Self.stubborn,
            [
                CookiePlugin(store: cookies, rules: CookieRules(publicSuffixes: Self.list)),
                CachePlugin(store: store, rules: CacheRules()), observer,
            ]
        )
        let clock = clock
        try await clock.run {
            let response = try await provider.request(Ask())
            #expect(try response.mapString() == "winner")
            #expect(clock.now.offset == .milliseconds(50))
            try await clock.sleep(for: .seconds(10))
        }
        #expect(seen.withLock { $0 } == [200])
        let names = await cookies.jar(account: "").cookies.map(\.name)
        #expect(names == ["winner"])
        _ = await provider.drain(within: .seconds(1))
        #expect(try await provider.request(Ask(), options: .init { $0.cachePolicy = .offline }).statusCode == 504)
    }

    @Test("It opens no circuit, closes no gate and keeps no permit")
    func traffic() async throws {
        let clock = clock
        for isHedged in [true, false] {
            let breaker = CircuitBreakerPlugin(failureRatio: 0.1, minimumCallCount: 1)
            let limit = ConcurrencyLimitPlugin(.fixed(2), queue: 0)
            let provider = provider(Self.stubborn, [breaker, RateLimitPlugin(), limit])
            let options = RequestOptions { $0.hedging = isHedged ? nil : .never }
            try await clock.run {
                for _ in 1...3 {
                    let start = clock.now
                    let response = try await provider.request(Ask(), options: options)
                    guard isHedged else { return #expect(response.statusCode == 503) }
                    #expect(response.statusCode == 200)
                    #expect(start.duration(to: clock.now) == .milliseconds(50))
                }
            }
            #expect(breaker.state(of: "https://a.test") == (isHedged ? .closed : .open))
        }
    }

    @Test("A body that is being read when another copy wins is not stored")
    func body() async throws {
        let clock = clock
        let transport = ScriptedTransport { _, index in
            guard index == 0 else { return .status(200, headers: [.cacheControl: "no-store"]) }
            let pieces = AsyncThrowingStream<Data, any Error> { continuation in
                continuation.yield(Data("lo".utf8))
                continuation.yield(Data("ser".utf8))
            }
            return .status(200, headers: [.cacheControl: "max-age=60"], body: .stream(pieces))
        }
        let provider = provider(transport, [CachePlugin()])
        try await clock.run {
            let response = try await provider.request(Ask())
            #expect(response.data.isEmpty)
            #expect(clock.now.offset == .milliseconds(50))
        }
        #expect(try await provider.request(Ask(), options: .init { $0.cachePolicy = .offline }).statusCode == 504)
    }

    @Test("The call returns only after the copy has ended")
    func structure() async throws {
        let isOver = Mutex(false)
        let inner: any PluginType = .intercept { request, context, next in
            defer { if context.attempt == 1 { isOver.withLock { $0 = true } } }
            return try await next(request)
        }
        let provider = provider(Self.stubborn, [inner])
        try await clock.run {
            _ = try await provider.request(Ask())
            #expect(isOver.withLock { $0 })
        }
    }
}
