import Pipeline
import Synchronization

/// The calls that shared an exchange, and the exchanges that follow it.
final class FlightGroup: Sendable {
    let isFailure: Bool
    private let flights = Mutex<[StrangersDeduplication.Key: Flight]>([:])

    init(isFailure: Bool) {
        self.isFailure = isFailure
    }

    func flight(for key: StrangersDeduplication.Key) -> Flight? { flights.withLock { $0[key] } }

    func set(_ flight: Flight, for key: StrangersDeduplication.Key) {
        flight.noteJoint()
        flights.withLock { $0[key] = flight }
    }
}

/// How an exchange ended.
struct Landing: Sendable {
    let result: Result<PipelineResponse, any Error>
    let shared: Stage.SharedOutcome?
    let isPersonal: Bool

    /// Returns the result with the fields of a call that identify it.
    func result(for request: PipelineRequest) throws -> PipelineResponse {
        func own(_ sent: PipelineRequest) -> PipelineRequest {
            var sent = sent
            for name in request.headers.map(\.name) where StrangersDeduplication.Key.isID(name, of: request) {
                sent.headers[fields: name] = request.headers[fields: name]
            }
            return sent
        }
        do {
            var response = try result.get()
            response.request = own(response.request)
            return response
        } catch var error as PipelineError {
            error.request = error.request.map(own)
            throw error
        }
    }
}

/// An exchange, and the calls that wait for it.
final class Flight: Sendable {
    typealias Waiter = AsyncStream<Landing>.Continuation

    private struct State {
        var waiters: [Int: Waiter]
        var isJoint: Bool
        var isAbandoned = false
        var work: Task<Void, Never>?
        var landing: Landing?
    }

    let deadline: Stage.SharedDeadline
    let closeCount: Int
    private let state: Mutex<State>

    init(_ context: PipelineContext, _ waiter: Waiter, isJoint: Bool, closeCount: Int) {
        deadline = Stage.SharedDeadline(context.deadline)
        self.closeCount = closeCount
        state = Mutex(State(waiters: [context.callID: waiter], isJoint: isJoint))
    }

    /// Adds a call, unless the exchange is over or another copy of the call's request waits for it.
    func join(_ context: PipelineContext, _ waiter: Waiter, afterFailure: Bool = false) -> Bool {
        state.withLock { state in
            if let landing = state.landing {
                guard afterFailure, let end = landing.shared?.end,
                    end.duration(to: context.clock.now) < .seconds(10)
                else { return false }
                waiter.yield(landing)
                waiter.finish()
                return true
            }
            guard !state.isAbandoned, state.waiters[context.callID] == nil else { return false }
            state.waiters[context.callID] = waiter
            state.isJoint = true
            deadline.extend(to: context.deadline)
            return true
        }
    }

    func noteJoint() { state.withLock { $0.isJoint = true } }

    func begin(_ work: Task<Void, Never>) {
        let isAbandoned = state.withLock { state in
            state.work = work
            return state.isAbandoned
        }
        if isAbandoned { work.cancel() }
    }

    /// Removes a call, and cancels the exchange after the last one; returns whether it was.
    func leave(_ call: Int) -> Bool {
        let work = state.withLock { state -> Task<Void, Never>?? in
            state.waiters[call] = nil
            guard state.waiters.isEmpty, state.landing == nil else { return .none }
            state.isAbandoned = true
            return .some(state.work)
        }
        guard let work else { return false }
        work?.cancel()
        return true
    }

    func land(_ result: Result<PipelineResponse, any Error>, isPersonal: Bool, _ shared: Stage.SharedOutcome) {
        let (waiters, landing) = state.withLock { state in
            let landing = Landing(
                result: result,
                shared: state.isJoint && !isPersonal ? shared : nil,
                isPersonal: isPersonal
            )
            if !isPersonal { state.landing = landing } else { state.isAbandoned = true }
            defer { state.waiters = [:] }
            return (state.waiters.values, landing)
        }
        for waiter in waiters {
            waiter.yield(landing)
            waiter.finish()
        }
    }
}
