import Foundation
import Pipeline
import PipelineTesting
import Synchronization

/// A call of a simulation.
struct Call: Sendable {
    /// When it begins, since the clock's origin.
    var moment: Duration
    var url = "https://a.test/"
    var method = HTTPRequest.Method.get
    var options = RequestOptions()
    /// The group that it is counted in.
    var group = 0
}

/// How a call ended.
struct Receipt: Sendable {
    let call: Call
    let end: Duration
    let status: Int?
    let code: PipelineError.Code?

    var isSuccess: Bool { status == 200 }
    var time: Duration { end - call.moment }
}

/// The receipts of calls that end in any order.
private final class Receipts: Sendable {
    private let receipts: Mutex<[Receipt?]>

    init(count: Int) {
        receipts = Mutex(Array(repeating: nil, count: count))
    }

    var all: [Receipt] { receipts.withLock { $0.compactMap(\.self) } }

    func set(_ receipt: Receipt, at index: Int) { receipts.withLock { $0[index] = receipt } }
}

/// Calls that a stack makes in virtual time.
struct Load {
    let clock: ManualClock
    let transport: any Transport
    let plugins: [any PluginType]

    private var provider: Provider<URLTarget> {
        Provider(
            transport: transport,
            plugins: plugins,
            configuration: ProviderConfiguration(
                limits: ProviderConfiguration.Limits(),
                unhandledOptions: .ignore,
                clock: clock,
                random: .seeded(1)
            )
        )
    }

    /// Begins each call at its moment, whatever has become of the others, and returns how they ended.
    ///
    /// The calls must be in the order of their moments.
    func run(_ calls: [Call]) async -> [Receipt] {
        let (clock, provider) = (clock, provider)
        let receipts = Receipts(count: calls.count)
        await clock.run {
            await withDiscardingTaskGroup { group in
                for (index, call) in calls.enumerated() {
                    if call.moment > clock.now.offset {
                        try? await clock.sleep(until: clock.origin.advanced(by: call.moment))
                    }
                    group.addTask {
                        receipts.set(await Self.perform(call, provider) { clock.now.offset }, at: index)
                    }
                }
            }
        }
        return receipts.all
    }

    /// Keeps a number of calls in progress until a moment, each task with one call after the other.
    func run(callers count: Int, until end: Duration) async {
        let (clock, provider) = (clock, provider)
        await clock.run {
            await withDiscardingTaskGroup { group in
                for index in 0..<count {
                    group.addTask {
                        try? await clock.sleep(for: .microseconds(100 * index))
                        while clock.now.offset < end {
                            let call = Call(moment: clock.now.offset)
                            let receipt = await Self.perform(call, provider) { clock.now.offset }
                            if !receipt.isSuccess { try? await clock.sleep(for: .milliseconds(10)) }
                        }
                    }
                }
            }
        }
    }

    /// Makes a call, and returns how it ended by a clock that begins at zero.
    static func perform(_ call: Call, _ provider: Provider<URLTarget>, now: () -> Duration) async -> Receipt {
        var target = URLTarget(call.url, method: call.method)
        target.validationType = .anyStatus
        do {
            let response = try await provider.request(target, options: call.options)
            return Receipt(call: call, end: now(), status: response.statusCode, code: nil)
        } catch {
            let code = (error as? PipelineError)?.code ?? .cancelled
            return Receipt(call: call, end: now(), status: nil, code: code)
        }
    }
}

extension Load {
    /// Returns calls at random moments, as independent callers make them.
    ///
    /// - Parameters:
    ///   - rate: the mean number of calls per second.
    ///   - duration: the time in which the calls begin.
    ///   - seed: the seed of the moments.
    /// - Returns: the calls, in the order of their moments.
    static func calls(rate: Double, for duration: Duration, seed: UInt64) -> [Call] {
        var random = PipelineRandom.seeded(seed)
        var calls: [Call] = []
        var moment = Duration.zero
        while true {
            moment += .seconds(-log1p(-Double.random(in: 0..<1, using: &random)) / rate)
            guard moment < duration else { return calls }
            calls.append(Call(moment: moment))
        }
    }
}

/// Several servers, each for a host of its own.
struct Hosts: Transport {
    let servers: [String: SimulatedServer]

    var decodesContent: Bool { false }

    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        guard let server = servers[request.head.authority ?? ""] else { throw PipelineError(.dns, "no such host") }
        return try await server.send(request, context: context)
    }
}

/// A transport whose requests arrive late, and whose responses arrive at once.
struct DelayedRequests: Transport {
    let transport: any Transport
    let clock: ManualClock
    let longest: Duration
    let random = PipelineRandom.seeded(12)

    var decodesContent: Bool { transport.decodesContent }

    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        var random = random
        try await clock.sleep(for: longest * Double.random(in: 0...1, using: &random))
        return try await transport.send(request, context: context)
    }
}

/// A transport that records how many requests are in flight.
final class Gauge: Transport {
    private let transport: any Transport
    private let clock: ManualClock
    private let changes = Mutex<[(moment: Duration, change: Int)]>([])

    var decodesContent: Bool { transport.decodesContent }

    init(_ transport: any Transport, on clock: ManualClock) {
        self.transport = transport
        self.clock = clock
    }

    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        note(1)
        defer { note(-1) }
        return try await transport.send(request, context: context)
    }

    private func note(_ change: Int) {
        let moment = clock.now.offset
        changes.withLock { $0.append((moment, change)) }
    }

    /// Returns the mean number of requests in flight in each second.
    func means(for duration: Duration) -> [Double] {
        var means = Array(repeating: 0.0, count: Int(duration.seconds))
        var (count, last) = (0, 0.0)
        for (moment, change) in changes.withLock({ $0 }) + [(duration, 0)] {
            let end = min(moment.seconds, Double(means.count))
            while last < end {
                let next = min(end, last.rounded(.down) + 1)
                means[Int(last)] += Double(count) * (next - last)
                last = next
            }
            count += change
        }
        return means
    }
}
