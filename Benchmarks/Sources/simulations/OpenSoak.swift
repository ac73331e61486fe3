import Foundation
import Pipeline
import PipelineResilience
import PipelineTesting

/// 100 calls per second that do not wait for each other, to a server that is healthy, slow and broken in turns.
enum OpenSoak {
    /// What the server does with each request.
    enum Phase: String {
        case healthy, slow, error, reset, hung, overloaded
    }

    static let phases: [(phase: Phase, seconds: Int)] = [
        (.healthy, 9), (.slow, 8), (.healthy, 5), (.error, 3), (.healthy, 5), (.reset, 3), (.healthy, 5), (.hung, 3),
        (.healthy, 7), (.overloaded, 3), (.healthy, 9),
    ]
    static let callCount = 6_000
    static let length = Duration.seconds(60)

    /// The stacks, from the one that knows most of the server to the one that knows least.
    static var stacks: [(name: String, stack: PluginStack)] {
        let timeouts = TimeoutPlugin(attempt: .seconds(8), total: .seconds(30), idle: .seconds(30))
        return [
            (".standard(.resilient)", .standard(.resilient, logging: .off)),
            ("timeouts and retries alone", .standard(.timeouts(timeouts), logging: .off)),
            (".standard", .standard(logging: .off)),
        ]
    }

    /// What one stack has made of the calls.
    struct Outcome {
        var receipts: [Receipt]
        var requestCount: Int
        /// What is left when all calls have ended: sleeping tasks, or calls that the client holds and requests that the
        /// server still works on.
        var leftCount: Int

        var successShare: Double { Double(receipts.count(where: \.isSuccess)) / Double(callCount) }

        /// How many calls ended in each way, most frequent first.
        var endings: String {
            let names = receipts.map { $0.code?.rawValue ?? $0.status.map { "\($0)" } ?? "" }
            let counts = Dictionary(names.map { ($0, 1) }, uniquingKeysWith: +)
            return counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) × \($0.key)" }
                .joined(separator: ", ")
        }
    }

    static func phase(at offset: Duration) -> Phase {
        var end = Duration.zero
        for (phase, seconds) in phases {
            end += .seconds(seconds)
            if offset < end { return phase }
        }
        return .healthy
    }

    static func calls(to origin: String) -> [Call] {
        (0..<callCount).map { Call(moment: length * $0 / callCount, url: "\(origin)/item/\($0 % 50)") }
    }

    /// Runs a stack in virtual time.
    static func simulate(_ stack: PluginStack) async -> Outcome {
        let clock = ManualClock()
        let transport = ScriptedTransport { _, _ in
            switch phase(at: clock.now.offset) {
            case .healthy: .delayed(.milliseconds(50), .status(200))
            case .slow: .delayed(.seconds(2), .status(200))
            case .error: .delayed(.milliseconds(20), .status(500))
            case .reset: .delayed(.milliseconds(20), .failure(.connectionLost))
            case .hung: .hang
            case .overloaded: .delayed(.milliseconds(20), .status(503, headers: [.retryAfter: "1"]))
            }
        }
        let receipts = await Load(clock: clock, transport: transport, plugins: [stack]).run(calls(to: "https://a.test"))
        return Outcome(receipts: receipts, requestCount: transport.sent.count, leftCount: clock.sleeperCount)
    }

    /// Runs a stack in real time against a server that begins the phases at a request for `/begin`.
    static func run(_ stack: PluginStack, at origin: String) async throws -> Outcome {
        #if Servers
        let transport = AsyncHTTPClientTransport()
        #else
        let transport = URLSessionTransport()
        #endif
        let plain = Provider<URLTarget>(transport: transport, plugins: [])
        let plan = phases.map { "\($0.phase.rawValue):\($0.seconds)" }.joined(separator: ",")
        try await plain.send(URLTarget("\(origin)/begin?\(plan)"))
        let provider = Provider<URLTarget>(transport: transport, plugins: [stack])
        let begin = ContinuousClock.now
        let receipts = await withTaskGroup(of: Receipt.self) { group in
            for call in calls(to: origin) {
                group.addTask {
                    try? await Task.sleep(until: begin + call.moment)
                    return await Load.perform(call, provider) { begin.duration(to: .now) }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        let isDrained = await provider.drain(within: .seconds(10))
        try await Task.sleep(for: .seconds(1))
        let text = try await String(
            decoding: plain.request(URLTarget("\(origin)/counts")).filterSuccessfulStatusCodes().data,
            as: UTF8.self
        )
        let counts = text.split(separator: " ").compactMap { Int($0) }
        var leftCount = (counts.last ?? callCount) + (isDrained ? 0 : 1)
        for figures in provider.health.flatMap(\.gauges.values) {
            leftCount += Int(figures[.inUse] ?? 0) + Int(figures[.waiting] ?? 0)
        }
        return Outcome(receipts: receipts, requestCount: counts.first ?? 0, leftCount: leftCount)
    }
}

extension Scenario {
    /// A minute of calls on a server with bad phases, in virtual time or against a real server.
    static func openSoak(at origin: String? = nil) async throws -> Scenario {
        var scenario = Scenario(
            "Open soak",
            "100 calls per second for a minute to a server that is healthy, slow, fails, resets, hangs and is overloaded in turns",
            sides: ".standard(.resilient), against timeouts and retries alone"
        )
        var outcomes: [OpenSoak.Outcome] = []
        for (name, stack) in OpenSoak.stacks {
            let outcome =
                if let origin { try await OpenSoak.run(stack, at: origin) } else { await OpenSoak.simulate(stack) }
            print("  \(name): \(outcome.endings)")
            outcomes.append(outcome)
        }
        let (with, without, standard) = (outcomes[0], outcomes[1], outcomes[2])
        scenario.add(
            "calls that succeed",
            .percent,
            .atLeast(0.82),
            with: with.successShare,
            without: without.successShare
        )
        scenario.add(
            "requests at the server",
            .count,
            .atMost(4_500),
            with: Double(with.requestCount),
            without: Double(without.requestCount)
        )
        let time = { (outcome: OpenSoak.Outcome) in percentile(0.99, outcome.receipts.map(\.time.milliseconds)) }
        scenario.add("p99 of all calls", .milliseconds, .atMost(10_000), with: time(with), without: time(without))
        scenario.add(
            "left afterwards",
            .count,
            .atMost(0),
            with: Double(with.leftCount),
            without: Double(without.leftCount)
        )
        scenario.add("calls that succeed with .standard", .percent, .atLeast(0.75), with: standard.successShare)
        scenario.add("requests with .standard", .count, .atMost(6_600), with: Double(standard.requestCount))
        scenario.add("left afterwards with .standard", .count, .atMost(0), with: Double(standard.leftCount))
        return scenario
    }
}
