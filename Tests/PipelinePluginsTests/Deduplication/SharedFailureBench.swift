import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import class PipelineTesting.ManualClock

/// A server in virtual time.
///
/// Its first response takes a second, so that calls can share it; later ones take `delay`.
struct SharedFailureBench: Sendable {
    typealias Call = Task<PipelineResponse, any Error>

    let clock = ManualClock()
    let transport: ScriptedTransport
    let provider: Provider<Ask>

    /// - Parameters:
    ///   - plugins: the stack.
    ///   - seed: the seed of the provider's random numbers.
    ///   - delay: how long later responses take; `nil` if they are immediate, without a suspension.
    ///   - step: the response, by request and number.
    init(
        _ plugins: [any PluginType],
        seed: UInt64 = 1,
        delay: Duration? = nil,
        _ step: @escaping @Sendable (PipelineRequest, Int) -> ScriptedTransport.Step
    ) {
        transport = ScriptedTransport { request, index in
            let step = step(request, index)
            guard let delay = index == 0 ? .seconds(1) : delay else { return step }
            return .delayed(delay, step)
        }
        provider = Provider(
            transport: transport,
            plugins: plugins,
            configuration: .init(clock: clock, random: .seeded(seed))
        )
    }

    var callerCount: Int {
        provider.plugins.lazy.compactMap { ($0 as? DeduplicationPlugin)?.callerCount }.first ?? 0
    }

    /// Begins calls in order and returns when all of them wait for the first exchange.
    func begin(_ count: Int, _ target: (Int) -> Ask = { _ in Ask() }) async -> [Call] {
        var calls: [Call] = []
        for number in 0..<count {
            let target = target(number)
            calls.append(Task { try await provider.request(target) })
            if number == 0 { await eventually { transport.sent.count == 1 } }
        }
        await eventually { callerCount == count && clock.sleeperCount == 1 }
        return calls
    }

    /// Advances the clock until all calls have ended; time limits that should not be reached fire last.
    ///
    /// - Parameters:
    ///   - calls: the calls.
    ///   - pace: how often the task yields between two moves; with few yields, time passes before all tasks have run.
    /// - Returns: the results, in the order of the calls.
    func results(of calls: [Call], pace: Int = 50) async -> [Result<PipelineResponse, any Error>] {
        let mover = Task {
            while !Task.isCancelled {
                for _ in 0..<pace { await Task.yield() }
                var pauses = Pauses()
                for _ in 0..<1_000 {
                    guard let time = clock.timeToNextSleeper, time > .seconds(9) else { break }
                    await pauses.next()
                }
                clock.advanceIfAnyoneSleeps()
            }
        }
        defer { mover.cancel() }
        return await calls.results
    }
}

/// Counts the live objects.
final class Census: Sendable {
    /// An error that is counted while it is alive.
    final class Failure: Error {
        private let census: Census

        init(_ census: Census) {
            self.census = census
            census.count.add(1, ordering: .relaxed)
        }

        deinit { census.count.subtract(1, ordering: .relaxed) }
    }

    private let count = Atomic(0)

    var value: Int { count.load(ordering: .relaxed) }

    /// Returns a lost connection whose underlying error is a new counted object.
    func makeError() -> PipelineError {
        PipelineError(.connectionLost, "by script", underlyingError: Failure(self))
    }
}
