import Foundation
import Pipeline
import PipelineCaching
import PipelineResilience
import PipelineTesting
import Testing

/// The resilient standard stack with a cache and cookies, with one plugin replaced by that of a stranger.
enum StrangersStack: String, CaseIterable, CustomTestStringConvertible {
    case ours
    case retry
    case deduplication
    case hedging
    case limiter
    case cache

    /// How long a request waits for a response before a copy is sent.
    static let hedgingDelay = Duration.seconds(5)

    /// Makes each plugin of the stranger.
    static let strangers: [@Sendable () -> any PluginType] = [
        { StrangersRetry(budget: RetryBudget()) }, { StrangersDeduplication() },
        { StrangersHedging(after: .seconds(5), budget: RetryBudget()) }, { StrangersLimiter(maximumCount: 200) },
        { StrangersCache() },
    ]

    var testDescription: String { self == .ours ? "our plugins" : "a stranger's \(rawValue)" }

    /// Makes the stack.
    ///
    /// - Parameters:
    ///   - permits: how many exchanges may run at the same time.
    ///   - budget: what retries and copies are taken from.
    ///   - hasCookies: whether the stack keeps cookies, which also tell sessions apart.
    ///   - authentication: the plugins that set credentials.
    /// - Returns: the stack.
    func plugins(
        permits: Int = 200,
        budget: RetryBudget = RetryBudget(),
        hasCookies: Bool = true,
        authentication: [any PluginType] = []
    ) -> PluginStack {
        let stack = PluginStack.standard(
            .resilient,
            .minimumDuration(.zero),
            .retries(RetryPlugin(budget: budget)),
            .hedging(HedgingPlugin(after: .fixed(Self.hedgingDelay), budget: budget)),
            .concurrencyLimit(ConcurrencyLimitPlugin(.fixed(permits), maximumWait: nil)),
            hasCookies ? .cookies() : StandardPart([:]),
            .cache(),
            logging: .off
        ) {
            for plugin in authentication { plugin }
        }
        switch self {
        case .ours: return stack
        case .retry: return stack.replacing(RetryPlugin.self, by: StrangersRetry(budget: budget))
        case .deduplication: return stack.replacing(DeduplicationPlugin.self, by: StrangersDeduplication())
        case .hedging:
            return stack.replacing(HedgingPlugin.self, by: StrangersHedging(after: Self.hedgingDelay, budget: budget))
        case .limiter:
            return stack.replacing(ConcurrencyLimitPlugin.self, by: StrangersLimiter(maximumCount: permits))
        case .cache: return stack.replacing(CachePlugin.self, by: StrangersCache())
        }
    }
}

extension PluginStack {
    fileprivate func replacing<Removed: PluginType>(
        _ type: Removed.Type,
        by plugin: any PluginType
    ) -> PluginStack {
        inserting(plugin, before: type).removing(type)
    }
}

/// A provider with one of the stacks, a scripted server, and virtual time.
struct StrangersBench: Sendable {
    typealias Results = [Result<PipelineResponse, any Error>]

    let clock: ManualClock
    let transport: ScriptedTransport
    let provider: Provider<Ask>

    init(
        _ stack: StrangersStack,
        permits: Int = 200,
        budget: RetryBudget = RetryBudget(),
        hasCookies: Bool = true,
        authentication: [any PluginType] = [],
        inside: [any PluginType] = [],
        clock: ManualClock = ManualClock(),
        transport: ScriptedTransport
    ) {
        self.clock = clock
        self.transport = transport
        let plugins = stack.plugins(
            permits: permits,
            budget: budget,
            hasCookies: hasCookies,
            authentication: authentication
        )
        provider = Provider(
            transport: transport,
            plugins: [plugins] + inside,
            configuration: ProviderConfiguration(findings: .report { _ in }, clock: clock, random: .seeded(7))
        )
    }

    /// Makes a bench whose server decides by the request and the number of requests before it.
    init(
        _ stack: StrangersStack,
        permits: Int = 200,
        budget: RetryBudget = RetryBudget(),
        hasCookies: Bool = true,
        authentication: [any PluginType] = [],
        inside: [any PluginType] = [],
        _ step: @escaping @Sendable (PipelineRequest, Int) -> ScriptedTransport.Step
    ) {
        let transport = ScriptedTransport(step)
        self.init(
            stack,
            permits: permits,
            budget: budget,
            hasCookies: hasCookies,
            authentication: authentication,
            inside: inside,
            transport: transport
        )
    }

    /// Makes calls in virtual time, and returns their results in order.
    func results(_ calls: [StrangersCall]) async -> Results {
        await clock.run {
            await withTaskGroup(of: (Int, Result<PipelineResponse, any Error>).self) { group in
                for (number, call) in calls.enumerated() {
                    group.addTask { (number, await result(call)) }
                }
                var results: [Int: Result<PipelineResponse, any Error>] = [:]
                for await (number, result) in group { results[number] = result }
                return calls.indices.compactMap { results[$0] }
            }
        }
    }

    /// Makes equal calls in virtual time.
    func results(_ count: Int, _ call: StrangersCall = StrangersCall()) async -> Results {
        await results(Array(repeating: call, count: count))
    }

    /// Makes one call in virtual time.
    func get(_ ask: Ask = Ask()) async -> Result<PipelineResponse, any Error> {
        await clock.run { await result(StrangersCall(ask)) }
    }

    private func result(_ call: StrangersCall) async -> Result<PipelineResponse, any Error> {
        if call.start > .zero { try? await clock.sleep(for: call.start) }
        return await withTaskGroup(of: Result<PipelineResponse, any Error>?.self) { group in
            group.addTask {
                do {
                    return .success(try await provider.request(call.ask))
                } catch {
                    return .failure(error)
                }
            }
            if let end = call.cancellation {
                group.addTask {
                    try? await clock.sleep(for: end)
                    return nil
                }
            }
            defer { group.cancelAll() }
            while let result = await group.next() {
                if let result { return result }
                group.cancelAll()
            }
            return .failure(CancellationError())
        }
    }
}

/// A call of a scenario.
struct StrangersCall: Sendable {
    var ask: Ask
    /// How long after the beginning of the scenario the call begins.
    var start: Duration
    /// How long after its beginning the call is cancelled; `nil` if it is not.
    var cancellation: Duration?

    init(_ ask: Ask = Ask(), at start: Duration = .zero, cancelledAfter cancellation: Duration? = nil) {
        self.ask = ask
        self.start = start
        self.cancellation = cancellation
    }
}

extension Result where Success == PipelineResponse, Failure == any Error {
    /// The status and the body, or the code of the failure; then how a cache has handled the call.
    var shown: String {
        switch self {
        case .success(let response):
            let text = String(decoding: response.data, as: UTF8.self)
            return "\(response.statusCode) \(text) \(response.cacheStatus?.kind.rawValue ?? "none")"
        case .failure(let error):
            return (error as? PipelineError)?.code.rawValue ?? "\(type(of: error))"
        }
    }

    /// The exchanges of the call.
    var exchanges: [PipelineExchange] {
        switch self {
        case .success(let response): response.exchanges
        case .failure(let error): (error as? PipelineError)?.exchanges ?? []
        }
    }
}
