import Foundation
import Pipeline
import PipelineTesting
import Synchronization

/// A clock that ends each wait at once and records it.
final class JumpingClock: PipelineClock.DatedClock, Sendable {
    struct Instant: InstantProtocol {
        let offset: Duration

        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        func duration(to other: Instant) -> Duration { other.offset - offset }

        static func < (lhs: Instant, rhs: Instant) -> Bool { lhs.offset < rhs.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var waits: [Duration] = []
    }

    private let state = Mutex(State())
    private let origin: Date

    init(date: Date = Date(timeIntervalSince1970: 1_767_225_600)) {
        origin = date
    }

    var now: Instant { state.withLock { $0.now } }
    var date: Date { origin.addingTimeInterval(now.offset / .seconds(1)) }
    var minimumResolution: Duration { .zero }

    /// The waits so far, in order.
    var waits: [Duration] { state.withLock { $0.waits } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        state.withLock { state in
            state.waits.append(state.now.duration(to: deadline))
            state.now = max(state.now, deadline)
        }
    }

    func advance(by duration: Duration) {
        state.withLock { $0.now = $0.now.advanced(by: duration) }
    }
}

/// A provider over a scripted transport, on a clock that jumps.
struct RetryBench {
    let clock: JumpingClock
    let transport: ScriptedTransport
    let provider: Provider<Ask>

    init(
        _ steps: [ScriptedTransport.Step],
        _ plugins: [any PluginType] = [RetryPlugin()],
        clock: JumpingClock = JumpingClock()
    ) {
        self.init(ScriptedTransport(steps), plugins, clock: clock)
    }

    init(
        _ transport: ScriptedTransport,
        _ plugins: [any PluginType] = [RetryPlugin()],
        clock: JumpingClock = JumpingClock()
    ) {
        self.clock = clock
        self.transport = transport
        self.provider = Provider(
            transport: transport,
            plugins: plugins,
            configuration: .init(clock: clock, random: .seeded(1))
        )
    }

    /// Sends the target and returns its status or the code of its failure.
    func outcome(_ target: Ask = Ask(), _ options: RequestOptions = .init()) async -> RetryOutcome {
        do {
            let response = try await provider.request(target, options: options)
            return RetryOutcome(text: "\(response.statusCode)", exchanges: response.exchanges)
        } catch let error as PipelineError {
            return RetryOutcome(text: error.code.rawValue, exchanges: error.exchanges, error: error)
        } catch {
            return RetryOutcome(text: "\(type(of: error))", exchanges: [])
        }
    }
}

/// The outcome of a call.
struct RetryOutcome {
    let text: String
    let exchanges: [PipelineExchange]
    var error: PipelineError?

    var refusal: PipelineExchange.RetryRefusal? { exchanges.last?.refusedRetry }
    var attempts: [Int] { exchanges.map(\.attempt) }
}

extension HTTPField.Name {
    /// The name of the idempotency key's header field.
    static let key = HTTPField.Name("Idempotency-Key") ?? .from
}
