import Foundation
import Pipeline
import PipelineResilience
import PipelineTesting
import Synchronization

/// A server that counts the requests of every period, with its own random delays on the way to it.
final class CountingServer: Transport {
    private struct State {
        var random: PipelineRandom
        var arrivals: [(moment: PipelineClock.Instant, path: String, cost: Int)] = []
    }

    let decodesContent = false
    private let delay: ClosedRange<Int64>
    private let state: Mutex<State>
    private let respond: @Sendable (PipelineRequest, PipelineContext) async throws -> PipelineResponse

    /// Makes a server whose requests take between the given numbers of microseconds to arrive.
    init(
        delay: ClosedRange<Int64> = 0...0,
        seed: UInt64 = 1,
        respond: @escaping @Sendable (PipelineRequest, PipelineContext) async throws -> PipelineResponse = {
            request,
            _ in
            PipelineResponse(request: request, statusCode: 200)
        }
    ) {
        self.delay = delay
        self.respond = respond
        state = Mutex(State(random: .seeded(seed)))
    }

    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        let own = state.withLock { Int64.random(in: delay, using: &$0.random) }
        if own > 0 { try await context.clock.sleep(for: .microseconds(own)) }
        let (now, path, cost) = (context.clock.now, request.head.path ?? "", context.options.cost)
        state.withLock { $0.arrivals.append((now, path, cost)) }
        return try await respond(request, context)
    }

    var count: Int { state.withLock { $0.arrivals.count } }

    /// The paths of the requests, in the order of their arrival.
    var paths: [String] { state.withLock { $0.arrivals.map(\.path) } }

    /// The moments of arrival, in seconds after another one.
    func arrivals(after start: PipelineClock.Instant) -> [Double] {
        state.withLock { $0.arrivals.map { start.duration(to: $0.moment) / .seconds(1) } }
    }

    /// Returns the highest cost that arrived within any period, both ends included.
    func highestCount(in period: Duration) -> Int {
        let arrivals = state.withLock { $0.arrivals }
        var (first, cost, highest) = (0, 0, 0)
        for arrival in arrivals {
            cost += arrival.cost
            while arrivals[first].moment.advanced(by: period) < arrival.moment {
                cost -= arrivals[first].cost
                first += 1
            }
            highest = max(highest, cost)
        }
        return highest
    }

    /// The requests per second, from the first to the last.
    var rate: Double {
        let arrivals = state.withLock { $0.arrivals }
        guard let first = arrivals.first?.moment, let last = arrivals.last?.moment else { return 0 }
        return Double(arrivals.count - 1) / (first.duration(to: last) / .seconds(1))
    }
}

/// Calls in virtual time.
struct RateLimitBench {
    let clock: ManualClock
    let pipelineClock: PipelineClock
    let start: PipelineClock.Instant
    let server: CountingServer
    let provider: Provider<Ask>

    init(_ server: CountingServer, _ plugins: [any PluginType], clock: ManualClock = ManualClock()) {
        self.clock = clock
        pipelineClock = PipelineClock(clock)
        start = pipelineClock.now
        self.server = server
        provider = Provider(
            transport: server,
            plugins: plugins,
            configuration: .init(clock: pipelineClock, random: .seeded(1))
        )
    }

    /// Makes calls at the same time; returns their outcomes in order: a status, or the code of an error.
    @discardableResult
    func calls(
        _ count: Int,
        _ makeOptions: @escaping @Sendable (Int) -> RequestOptions = { _ in .init() }
    ) async -> [String] {
        await clock.run {
            await withTaskGroup(of: (Int, String).self) { group in
                for index in 0..<count { group.addTask { (index, await call("/\(index)", makeOptions(index))) } }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
        }.sorted { $0.key < $1.key }.map(\.value)
    }

    func call(_ path: String = "/b", _ options: RequestOptions = .init()) async -> String {
        do {
            return "\(try await provider.request(Ask(path: path), options: options).statusCode)"
        } catch let error as PipelineError {
            return error.code.rawValue
        } catch {
            return "\(type(of: error))"
        }
    }
}

extension PipelineResponse {
    init(_ request: PipelineRequest, _ statusCode: Int, _ headers: HTTPFields = [:]) {
        self.init(request: request, statusCode: statusCode, headers: headers)
    }
}
