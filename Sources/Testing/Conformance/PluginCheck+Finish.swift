import Foundation
import PipelineCore
import Synchronization

/// Counts how often each call has ended.
private final class FinishedCalls: Stage.DidFinish {
    private let counts = Mutex<[Int: Int]>([:])

    func didFinish(_ outcome: Stage.Outcome, context: PipelineContext) {
        counts.withLock { $0[context.callID, default: 0] += 1 }
    }

    /// The violations of a provider that has made one call.
    func violations(_ what: String) -> [String] {
        let count = counts.withLock { $0.values.reduce(0, +) }
        return count == 1 ? [] : ["for a call \(what), didFinish ran \(count) times, not once"]
    }
}

extension PluginCheck {
    static let finish: @Sendable (PluginBench) async -> [String] = { bench in
        let steps: [(String, ScriptedTransport.Step)] = [
            ("responded with 200", .status(200)), ("responded with 500", .status(500)),
            ("that failed", .failure(.connectionLost)),
        ]
        var found: [String] = []
        for (what, step) in steps {
            let finished = FinishedCalls()
            _ = await bench.outcome(of: PluginProbe(), step, with: [finished])
            found += finished.violations(what)
        }
        return await found + cancelled(bench) + released(bench)
    }

    /// Checks a call that is cancelled while it waits for the response.
    private static func cancelled(_ bench: PluginBench) async -> [String] {
        let finished = FinishedCalls()
        let transport = ScriptedTransport(always: .hang)
        let provider = bench.provider(transport, with: [finished])
        let call = ObservedCall { try await provider.request(PluginProbe()) }
        await Patience.wait(bench.patience, moving: nil) {
            call.hasEnded || !transport.sent.isEmpty || bench.clock.sleeperCount > 0
        }
        call.cancel()
        _ = await call.end(patience: bench.patience)
        return finished.violations("that was cancelled")
    }

    /// Checks a stream whose response is dropped.
    private static func released(_ bench: PluginBench) async -> [String] {
        let finished = FinishedCalls()
        let body = PipelineBody.stream(AsyncStream<Data> { nil })
        let provider = bench.provider(ScriptedTransport(always: .status(200, body: body)), with: [finished])
        let call = ObservedCall { try await provider.stream(PluginProbe()).statusCode }
        _ = await call.end(moving: bench.clock, patience: bench.patience)
        return finished.violations("whose stream was released unread")
    }
}
