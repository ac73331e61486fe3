import Foundation
import HTTPTypes
import PipelineCore
import Synchronization

/// A check of ``PluginConformance``, which returns the violations it finds.
struct PluginCheck: Sendable {
    let name: String
    let run: @Sendable (PluginBench) async -> [String]

    static let all: [PluginCheck] = [
        PluginCheck(name: "name") { $0.plugin.name.allSatisfy(\.isWhitespace) ? ["it is blank"] : [] },
        PluginCheck(name: "success", run: success),
        PluginCheck(name: "failure") { await end($0, .failure(.connectionLost)) },
        PluginCheck(name: "serverError") { await end($0, .status(500, body: "no")) },
        PluginCheck(name: "cancellation", run: cancellation),
        PluginCheck(name: "stream", run: stream),
        PluginCheck(name: "download", run: download),
        PluginCheck(name: "finish", run: finish),
        PluginCheck(name: "pairs", run: pairs),
        PluginCheck(name: "exchange", run: exchange),
        PluginCheck(name: "concurrency", run: concurrency),
        PluginCheck(name: "retries", run: retries),
        PluginCheck(name: "sharing", run: sharing),
        PluginCheck(name: "storing", run: storing),
        PluginCheck(name: "secrets", run: secrets),
    ]

    // MARK: Ends

    private static let success: @Sendable (PluginBench) async -> [String] = { bench in
        switch await bench.outcome(of: PluginProbe(), .status(200, body: "ok")) {
        case .value: []
        case .failure(let error): ["the transport responded with 200, but the call failed: \(error)"]
        case .cancelled: ["the call ended as cancelled, although nothing cancelled it"]
        case .hung: ["the call did not end"]
        }
    }

    private static func end(_ bench: PluginBench, _ step: ScriptedTransport.Step) async -> [String] {
        switch await bench.outcome(of: PluginProbe(), step) {
        case .value, .failure: []
        case .cancelled: ["the call ended as cancelled, although nothing cancelled it"]
        case .hung: ["the call did not end"]
        }
    }

    // MARK: Cancellation

    private static let cancellation: @Sendable (PluginBench) async -> [String] = { bench in
        let answers = Mutex(false)
        let transport = ScriptedTransport { _, _ in answers.withLock { $0 } ? .status(200) : .hang }
        let provider = bench.provider(transport)
        let call = ObservedCall { try await provider.request(PluginProbe()) }
        // No time passes, so a plugin that waits is cancelled while it waits.
        await Patience.wait(bench.patience, moving: nil) {
            call.hasEnded || !transport.sent.isEmpty || bench.clock.sleeperCount > 0
        }
        var found: [String] = []
        if !call.hasEnded {
            call.cancel()
            switch await call.end(patience: bench.patience) {
            case .cancelled: break
            case .value: found.append("a cancelled call ended in a response")
            case .failure(let error):
                found.append("a cancelled call ended in another error than CancellationError: \(error)")
            case .hung: found.append("a cancelled call did not end at once")
            }
        }
        answers.withLock { $0 = true }
        let next = ObservedCall { try await provider.request(PluginProbe(number: 1)) }
        switch await next.end(moving: bench.clock, patience: bench.patience) {
        case .value: break
        case .failure(let error): found.append("the call after a cancelled one failed: \(error)")
        case .cancelled: found.append("the call after a cancelled one ended as cancelled too")
        case .hung: found.append("the call after a cancelled one did not end")
        }
        return found
    }

    // MARK: Pairs

    private static let pairs: @Sendable (PluginBench) async -> [String] = { bench in
        let steps: [(String, ScriptedTransport.Step)] = [
            ("responded with 200", .status(200)), ("responded with 500", .status(500)),
            ("that failed", .failure(.connectionLost)),
        ]
        var found: [String] = []
        for (what, step) in steps {
            let open = OpenExchanges()
            _ = await bench.outcome(of: PluginProbe(), .delayed(.seconds(1), step), with: [open])
            if open.current > 0 { found.append("after a call \(what) had ended, \(open.current) exchanges went on") }
        }
        return found
    }

    // MARK: Concurrency

    private static let concurrency: @Sendable (PluginBench) async -> [String] = { bench in
        let count = 64
        let transport = ScriptedTransport { request, _ in
            let number = request.path.split(separator: "/").last.flatMap { Int($0) } ?? -1
            // Out of order: 7 and 64 have no common factor.
            return .delayed(.milliseconds(number * 7 & 63), .status(200, body: "answer \(number)"))
        }
        let provider = bench.provider(transport)
        let calls = (0..<count).map { number in
            ObservedCall { try await provider.request(PluginProbe(number: number)) }
        }
        await Patience.wait(bench.patience, moving: bench.clock) { calls.allSatisfy(\.hasEnded) }
        var wrong = 0
        var failed = 0
        var hung = 0
        for (number, call) in calls.enumerated() {
            guard call.hasEnded else {
                call.cancel()
                hung += 1
                continue
            }
            switch await call.end(patience: bench.patience) {
            case .value(let response): wrong += response.data == Data("answer \(number)".utf8) ? 0 : 1
            case .failure, .cancelled, .hung: failed += 1
            }
        }
        var found: [String] = []
        if wrong > 0 { found.append("of \(count) calls at once \(wrong) got the response of another call") }
        if failed > 0 { found.append("of \(count) calls at once \(failed) failed") }
        if hung > 0 { found.append("of \(count) calls at once \(hung) did not end") }
        return found
    }
}
