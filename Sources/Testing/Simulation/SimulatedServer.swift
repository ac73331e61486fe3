import Foundation
import HTTPTypes
public import PipelineCore
import Synchronization

/// A server in virtual time, with a queue, a quota and bad days, to test a stack against.
///
/// ```swift
/// let clock = ManualClock()
/// let server = SimulatedServer(
///     on: clock,
///     workers: 8,
///     serviceTime: .exponential(mean: .milliseconds(40)).slow(0.01, by: .seconds(1)),
///     travelTime: .uniform(.zero ... .milliseconds(50)),
///     quota: 100,
///     refusal: .retryAfterSeconds,
///     outages: [.seconds(60) ..< .seconds(90): .failure(.connect(.refused))]
/// )
/// let provider = Provider<Shop>(transport: server, plugins: plugins, configuration: .init(clock: clock))
/// try await clock.run { try await buyEverything(provider) }
/// #expect(server.exceededCount == 0)
/// ```
///
/// A request travels to the server, waits in its queue until a worker is free, is worked on, and its response travels
/// back. Like a real server, this one does not notice that a client has gone away: it works on the request anyway. A
/// test learns what reached the server from ``arrivals``, ``completions``, ``highestCount`` and ``exceededCount``.
///
/// All moments are durations since the clock's origin. With ``ManualClock/run(_:)``, a seeded
/// ``/Pipeline/PipelineRandom`` in the configuration, and the same `seed`, every run is the same on every machine.
///
/// **Effects**: the server ignores what a request asks for, unless `response` looks at it, and does not read its body.
/// It keeps a few dozen bytes for each request until it is released. Several providers may share it. It serves every
/// host; to simulate several, give each provider a server of its own.
///
/// **Defaults**
///
/// | setting | default | range |
/// |---|---|---|
/// | `workers`: requests worked on at the same time | 16 | 0 or more |
/// | `workersLater`: the number of workers from a moment on, for example half of them | none | 0 or more |
/// | `serviceTime`: how long a worker needs for a request | 10 ms | |
/// | `travelTime`: how long a request is on its way, and its response on the way back | zero | |
/// | `quota`: permitted requests in every window of a length | none | 0 or more |
/// | `window`: that length | 1 s | more than zero |
/// | `refusal`: how the server responds beyond its quota | `nil`: as to any other request; it only counts | |
/// | `clockSkew`: how far its clock is ahead of `clock` | zero | |
/// | `outages`: when the server is down, and what a request then meets | none | |
/// | `response`: the response to a request whose work is complete | 200 without a body | |
/// | `seed`: the seed of all random times | 1 | |
///
/// During an outage, `.hang` never responds, `.failure(.connect(.refused))` refuses connections, and `.status(503)`
/// responds at once. Work that began before the outage is completed and its response delivered.
///
/// **Errors**: what the steps throw; `CancellationError` as soon as the task is cancelled.
public final class SimulatedServer: Transport {
    private let clock: ManualClock
    private let clockSkew: Duration
    private let quota: Int
    private let window: Duration
    private let refusal: Refusal?
    private let response: ScriptedTransport.Step
    private let traffic: Mutex<SimulatedTraffic>

    /// Always `false`: the bodies of `response` are passed on as they are.
    public var decodesContent: Bool { false }

    /// Makes a server; see the table above for its settings.
    ///
    /// - Parameters:
    ///   - clock: the clock that the server's times refer to, also that of the provider.
    ///   - workers: the number of requests that are worked on at the same time.
    ///   - workersLater: the number of workers from a moment on. A worker that is no longer needed first completes its
    ///     work.
    ///   - serviceTime: how long a worker needs for a request.
    ///   - travelTime: how long a request is on its way, and its response on the way back.
    ///   - quota: the number of requests that are permitted in every window.
    ///   - window: the length of these windows. A window contains its beginning and not its end.
    ///   - refusal: how the server responds beyond its quota. Refused requests do not use the quota.
    ///   - clockSkew: how far the server's clock is ahead, negative if it is slow.
    ///   - outages: when the server is down, and what happens to requests that arrive then.
    ///   - response: what the server responds when the work on a request is complete.
    ///   - seed: the seed of all random times.
    public init(
        on clock: ManualClock,
        workers: Int = 16,
        workersLater: [Duration: Int] = [:],
        serviceTime: Timing = .constant(.milliseconds(10)),
        travelTime: Timing = .constant(.zero),
        quota: Int? = nil,
        per window: Duration = .seconds(1),
        refusal: Refusal? = nil,
        clockSkew: Duration = .zero,
        outages: [Range<Duration>: ScriptedTransport.Step] = [:],
        response: ScriptedTransport.Step = .status(200),
        seed: UInt64 = 1
    ) {
        for count in [workers] + workersLater.values { precondition(count >= 0, "workers is \(count), less than 0") }
        precondition(quota.map { $0 >= 0 } ?? true, "quota is \(quota ?? 0), less than 0")
        precondition(window > .zero, "window is \(window), not more than zero")
        precondition(quota != nil || refusal == nil, "refusal is set, but quota is nil")
        self.clock = clock
        self.clockSkew = clockSkew
        self.quota = quota ?? .max
        self.window = window
        self.refusal = refusal
        self.response = response
        let count = SlidingCount(limit: self.quota, window: window)
        traffic = Mutex(
            SimulatedTraffic(
                count: count,
                permitted: refusal.map { _ in count },
                queue: SimulatedQueue(workers: workers, later: workersLater),
                outages: outages,
                serviceTime: serviceTime,
                travelTime: travelTime,
                serviceRandom: .seeded(seed),
                travelRandom: .seeded(~seed)
            )
        )
    }

    /// The moments at which requests have reached the server so far, in order, also during outages.
    public var arrivals: [Duration] { read { $0.arrivals } }

    /// The moments at which work was completed so far, in order, also for clients that have gone away.
    public var completions: [Duration] {
        let now = clock.now.offset
        return read { $0.completions(until: now) }
    }

    /// The highest number of requests that have arrived in any window so far, except during outages.
    public var highestCount: Int { read { $0.count.highest } }

    /// The number of requests that arrived when their window already contained the quota, except during outages.
    ///
    /// It is zero exactly if no window of any beginning has contained more requests than the quota.
    public var exceededCount: Int { read { $0.count.exceededCount } }

    /// Sends a request to the server and waits for its response.
    public func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        let sent = clock.now.offset
        let ticket = traffic.withLock { $0.send(at: sent) }
        try await sleep(until: ticket.arrival)
        guard let outcome = read({ $0.fate(of: ticket) }) else { throw CancellationError() }
        switch outcome.fate {
        case .outage(let step):
            try await clock.sleep(for: ticket.wayBack)
            return try await step.answer(request, context)
        case .refused(let wait):
            var response = PipelineResponse(request: request, statusCode: 429)
            let date = clock.date.addingTimeInterval(clockSkew / .seconds(1))
            refusal?.mark(&response.head.headerFields, after: wait, at: date)
            return try await deliver(response, outcome.remainder, after: ticket.wayBack)
        case .served(nil):
            return try await ScriptedTransport.Step.hang.answer(request, context)
        case .served(let end?):
            try await sleep(until: end)
            let response = try await response.answer(request, context)
            return try await deliver(response, outcome.remainder, after: ticket.wayBack)
        }
    }

    private func deliver(
        _ response: PipelineResponse,
        _ remainder: SimulatedTraffic.Remainder?,
        after wayBack: Duration
    ) async throws -> PipelineResponse {
        try await clock.sleep(for: wayBack)
        var response = response
        refusal?.mark(&response.head.headerFields, remainder, of: quota, per: window)
        return response
    }

    private func sleep(until moment: Duration) async throws {
        try await clock.sleep(until: ManualClock.Instant(offset: moment))
    }

    /// Reads the traffic after all requests that have arrived were judged.
    private func read<Value: Sendable>(_ body: (inout SimulatedTraffic) -> Value) -> Value {
        let now = clock.now.offset
        return traffic.withLock { traffic in
            traffic.advance(to: now)
            return body(&traffic)
        }
    }
}
