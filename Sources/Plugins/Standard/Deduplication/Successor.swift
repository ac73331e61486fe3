import PipelineCore
import Synchronization

/// An exchange that follows a shared one, begun or joined by a member of a group of calls that share.
final class Successor: Sendable {
    /// The end of an exchange.
    struct Ending: Sendable {
        let result: Result<PipelineResponse, any Error>
        /// What the calls that share the result have in common.
        let shared: Stage.SharedOutcome
    }

    /// The number of the exchange.
    let exchange: Int
    /// How often the table had been closed while the exchange was open.
    let closeCount: Int
    private let room: ResultRoom
    private let state = Mutex<Ending?>(nil)

    init(exchange: Int, closeCount: Int, room: ResultRoom) {
        self.exchange = exchange
        self.closeCount = closeCount
        self.room = room
    }

    deinit {
        if ending != nil { room.leave() }
    }

    /// The end of the exchange; `nil` while it is in flight, if it was abandoned, or if its result could not be kept
    /// for lack of room.
    var ending: Ending? { state.withLock { $0 } }

    /// Keeps the result if there is room.
    func keep(_ ending: Ending) {
        guard room.enter() else { return }
        state.withLock { $0 = ending }
    }
}

/// A bound on the number of results of ended exchanges that are kept.
final class ResultRoom: Sendable {
    private let maximumCount: Int
    private let count = Atomic(0)

    init(maximumCount: Int) {
        self.maximumCount = maximumCount
    }

    /// Takes a place if one is free, and returns whether it did.
    func enter() -> Bool {
        if count.add(1, ordering: .relaxed).newValue <= maximumCount { return true }
        leave()
        return false
    }

    /// Gives the place back.
    func leave() {
        count.subtract(1, ordering: .relaxed)
    }
}
