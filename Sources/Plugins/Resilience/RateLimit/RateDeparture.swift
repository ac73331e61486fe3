import PipelineCore
import Synchronization

/// A request that has its permits of a rate limit, until it has been sent and has arrived.
///
/// It may still wait after that, for a permit of ``ConcurrencyLimitPlugin``. It therefore departs only when it is sent.
final class RateDeparture: Sendable {
    private enum State {
        case held
        case flying(RateMeter.Flight)
        case ended
    }

    private let permits: PermitQueue<RateMeter>
    private let cost: Int
    private let attempt: Int
    private let hop: Int
    private let state = Mutex(State.held)

    init(at permits: PermitQueue<RateMeter>, cost: Int, _ context: PipelineContext) {
        self.permits = permits
        self.cost = cost
        attempt = context.attempt
        hop = context.hop
    }

    /// Whether the request belongs to an attempt and a hop.
    func belongs(to context: PipelineContext) -> Bool { attempt == context.attempt && hop == context.hop }

    /// Whether the gate has been closed since the request passed it.
    func isGated(on clock: PipelineClock) -> Bool {
        let now = clock.now
        return permits.read { meter, _ in meter.closure(at: now) != nil }
    }

    /// Notes that the request is sent now.
    func depart(on clock: PipelineClock) {
        let isFirst = state.withLock { state in
            guard case .held = state else { return false }
            // Two sends may begin at the same time, and only one of them uses the permits.
            state = .ended
            return true
        }
        guard isFirst else { return }
        let now = clock.now
        guard let flight = permits.change(on: clock, { $0.depart(cost, at: now) }) else { return }
        state.withLock { $0 = .flying(flight) }
    }

    /// Notes that the response has begun, or that there is none.
    ///
    /// - Parameters:
    ///   - hasArrived: whether the server has certainly received the request by now.
    ///   - provesNothingSent: whether the server has certainly not received it.
    ///   - clock: the clock of the call.
    func end(hasArrived: Bool, provesNothingSent: Bool = false, on clock: PipelineClock) {
        let state = state.withLock { state in
            defer { state = .ended }
            return state
        }
        let now = clock.now
        permits.change(on: clock) { meter in
            switch state {
            case .held: meter.cancel(cost, at: now)
            case .flying(let flight) where hasArrived: meter.arrive(flight, at: now)
            case .flying(let flight) where provesNothingSent: meter.cancel(flight, at: now)
            default: break
            }
        }
    }
}

/// The requests of a call that have permits of a rate limit.
enum RateDepartures: PipelineContext.Key {
    static let defaultValue: [RateDeparture] = []
}

/// A request waited so long for another permit that the gate has been closed in the meantime; it has to wait there.
struct RateGateClosed: Error {}
