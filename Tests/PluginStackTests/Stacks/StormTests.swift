import Foundation
import Pipeline
import PipelineAuth
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// All plugins that wait, share or retry in one stack, under all kinds of calls and responses.
@Suite("A storm of calls", .tags(.concurrent), .watched)
struct StormTests {
    private struct Storm: Transport {
        let clock: ManualClock
        let random: PipelineRandom
        let open = OpenSends()
        let decodesContent = false

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            open.count.add(1, ordering: .relaxed)
            defer { open.count.subtract(1, ordering: .relaxed) }
            if !request.body.isReplayable { _ = try await request.body.collect(upTo: 1_000) }
            var random = random
            try await clock.sleep(for: .milliseconds(Int.random(in: 0..<2_000, using: &random)))
            let slow = PipelineBody.stream(SlowBytes(count: 3, every: .seconds(1), clock: clock))
            let stalled = PipelineBody.stream(SlowBytes(count: 1, every: .zero, clock: clock, hangs: true))
            switch Int.random(in: 0..<12, using: &random) {
            case 0: return answer(request, 503, body: slow)
            case 1: return answer(request, 503, [.retryAfter: "2"])
            case 2: throw PipelineError(.connectionLost, "lost")
            case 3: throw PipelineError(.dns, "unknown")
            case 4: return answer(request, 307, [.location: "/b"])
            case 5: return answer(request, 401)
            case 6: return answer(request, 200, body: stalled)
            case 7:
                try await clock.sleep(for: .seconds(1_000))
                throw PipelineError(.transport, "late")
            case 8: return answer(request, 200, body: slow)
            default: return answer(request, 200, body: .bytes(Data("x".utf8)))
            }
        }

        private func answer(
            _ request: PipelineRequest,
            _ status: Int,
            _ headers: HTTPFields = [:],
            body: PipelineBody = .absent
        ) -> PipelineResponse {
            let head = HTTPResponse(status: .init(code: status), headerFields: headers)
            return PipelineResponse(request: request, head: head, body: body)
        }
    }

    private final class OpenSends: Sendable {
        let count = Atomic(0)
    }

    private struct Plan: Sendable {
        let kind: Int
        let path: String
        let wait: Duration
        let cancelAfter: Duration?
        let options: RequestOptions

        init(_ random: inout PipelineRandom) {
            func chance(_ of: Int) -> Bool { Int.random(in: 0..<of, using: &random) == 0 }
            func milliseconds(_ limit: Int) -> Duration { .milliseconds(Int.random(in: 1...limit, using: &random)) }
            kind = .random(in: 0..<5, using: &random)
            path = "/\(Int.random(in: 0..<3, using: &random))"
            wait = milliseconds(3_000)
            cancelAfter = chance(3) ? milliseconds(4_000) : nil
            var options = RequestOptions()
            if chance(4) { options.totalTimeout = milliseconds(3_000) }
            if chance(8) { options.idleTimeout = .seconds(1) }
            if chance(8) { options.attemptTimeout = .seconds(1) }
            if chance(8) { options.deduplication = .on }
            self.options = options
        }
    }

    @Test("Every call ends exactly once, with its own outcome, and leaves nothing behind", arguments: 0..<UInt64(8))
    func storm(_ seed: UInt64) async throws {
        let clock = ManualClock()
        var random = PipelineRandom.seeded(seed)
        let transport = Storm(clock: clock, random: random)
        let folder = FileManager.default.temporaryDirectory.appending(path: "storm-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let deduplication = DeduplicationPlugin()
        let activity = ActivityPlugin { _ in }
        let number = Tally()
        let tokens = TokenRefreshPlugin(credential: Session(accessToken: "0")) { _, context in
            try await context.clock.sleep(for: .milliseconds(300))
            return Session(accessToken: "\(number.add())")
        }
        let retry = RetryPlugin()
        let plugins = PluginStack {
            activity
            MinimumDurationPlugin(.milliseconds(100))
            TimeoutPlugin(total: .seconds(20), idle: .seconds(5))
            RequestIDPlugin()
            if seed % 2 == 0 { retry }
            tokens
            deduplication
            if seed % 2 == 1 { retry }
            GzipPlugin()
        }
        let provider = Provider<MultiTarget>(
            transport: transport,
            plugins: [plugins],
            configuration: .init(clock: clock, random: random)
        )
        let ended = Tally()
        let wrong = Lines()
        let calls = (0..<200).map { index in
            let plan = Plan(&random)
            return Task {
                let call = Task {
                    try await clock.sleep(for: plan.wait)
                    try await send(plan, to: provider, clock, file: folder.appending(path: "\(index)"))
                }
                let canceller = Task {
                    guard let cancelAfter = plan.cancelAfter else { return }
                    try await clock.sleep(for: cancelAfter)
                    call.cancel()
                }
                switch await call.result {
                case .success: break
                case .failure(let error as PipelineError):
                    if error.code == .plugin || error.code == .cancelled { wrong.add("\(error)") }
                case .failure(let error):
                    if !(error is CancellationError) || plan.cancelAfter == nil { wrong.add("\(error)") }
                }
                canceller.cancel()
                ended.add()
            }
        }
        await moveUntil(clock) { ended.value == calls.count }
        #expect(wrong.all == [])
        #expect(deduplication.inflightCount == 0 && deduplication.callerCount == 0)
        #expect(activity.activeCallCount == 0 && tokens.waitingCount == 0)
        await moveUntil(clock) { transport.open.count.load(ordering: .relaxed) == 0 && clock.sleeperCount == 0 }
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(left.allSatisfy { Int($0) != nil }, "\(left)")
    }

    private func send(_ plan: Plan, to provider: Provider<MultiTarget>, _ clock: ManualClock, file: URL) async throws {
        var target = Ask(path: plan.path, authorizationType: .bearer)
        switch plan.kind {
        case 0:
            for try await _ in try await provider.stream(target, options: plan.options).body {}
            return
        case 1:
            target.method = .post
            target.task = .requestStream(.stream(SlowBytes(count: 2, every: .milliseconds(10), clock: clock)))
        case 2: target.task = .downloadDestination(.file(file, options: .removePreviousFile))
        default: break
        }
        _ = try await provider.request(target, options: plan.options)
    }

    /// Advances the clock until a condition holds.
    ///
    /// Records an issue if it does not hold within a million seconds of the clock, or within 60,000 pauses in which
    /// nothing sleeps.
    private func moveUntil(_ clock: ManualClock, _ condition: () -> Bool) async {
        var idle = 0
        var pauses = Pauses()
        while !condition(), !Task.isCancelled {
            guard pauses.count < 60_000, clock.now.offset < .seconds(1_000_000) else {
                Issue.record("The condition did not hold after \(pauses.count) pauses, at \(clock.now.offset).")
                return
            }
            idle += 1
            if idle % 50 == 0, clock.advanceIfAnyoneSleeps() { pauses = Pauses() }
            await pauses.next()
        }
    }
}
