import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineTesting
import TestSupport
import Testing

/// A minute of calls that do not wait for each other, to a server that is healthy, slow and broken in turns.
@Suite("An open load on a server with bad phases", .tags(.concurrent), .watched)
struct OpenSoakTests {
    private enum Phase: CaseIterable {
        case healthy, slow, error, reset, hung, overloaded
    }

    private static let callCount = 6_000
    private static let length = Duration.seconds(60)
    private static let turnCount = 7

    private struct Call: Sendable {
        let code: String
        let duration: Duration
    }

    private struct Outcome {
        var successCount = 0
        var requestCount = 0
        var percentile99 = Duration.zero
        var codes: [String: Int] = [:]
        var sleeperCount = 0
    }

    private static func phase(at offset: Duration) -> Phase {
        let all = Phase.allCases
        let number = Int(offset / (length / (turnCount * all.count)))
        return all[number % all.count]
    }

    private static func run(_ stack: PluginStack) async -> Outcome {
        let clock = ManualClock()
        let start = clock.now
        let transport = ScriptedTransport { _, _ in
            switch phase(at: start.duration(to: clock.now)) {
            case .healthy: .delayed(.milliseconds(50), .status(200))
            case .slow: .delayed(.seconds(2), .status(200))
            case .error: .delayed(.milliseconds(20), .status(500))
            case .reset: .delayed(.milliseconds(20), .failure(.connectionLost))
            case .hung: .hang
            case .overloaded: .delayed(.milliseconds(20), .status(503, headers: [.retryAfter: "1"]))
            }
        }
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [stack],
            configuration: .init(clock: clock, random: .seeded(1))
        )
        let results = Results<Call>()
        await clock.run {
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<callCount {
                    group.addTask {
                        try? await clock.sleep(until: start.advanced(by: length * number / callCount))
                        let begin = clock.now
                        let code: String
                        do {
                            let response = try await provider.request(Ask(path: "/item/\(number % 50)"))
                            code = "\(response.statusCode)"
                        } catch {
                            code = (error as? PipelineError)?.code.rawValue ?? "\(type(of: error))"
                        }
                        results.add(Call(code: code, duration: begin.duration(to: clock.now)))
                    }
                }
            }
        }
        let all = results.all
        var outcome = Outcome()
        outcome.successCount = all.count { $0.code == "200" }
        outcome.requestCount = transport.sent.count
        outcome.percentile99 = all.map(\.duration).sorted()[all.count * 99 / 100]
        for result in all { outcome.codes[result.code, default: 0] += 1 }
        outcome.sleeperCount = clock.sleeperCount
        return outcome
    }

    @Test("Every call ends, nothing is left afterwards, and the server gets at most one request in ten more than calls")
    func stacks() async {
        var unlimited = StackResilience.resilient
        unlimited.breaker = nil
        unlimited.rateLimit = nil
        unlimited.concurrencyLimit = nil
        let resilient = await Self.run(.standard(.resilient, logging: .off))
        let retries = await Self.run(.standard(unlimited, logging: .off))
        let standard = await Self.run(.standard(logging: .off))
        for outcome in [resilient, retries, standard] {
            #expect(outcome.sleeperCount == 0)
            #expect(outcome.codes.values.reduce(0, +) == Self.callCount)
            #expect(outcome.requestCount <= Self.callCount * 11 / 10)
        }
    }
}
