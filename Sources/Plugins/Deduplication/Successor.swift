import Pipeline
import Synchronization

/// An exchange that follows a shared one: a member of a convoy has begun or joined it.
final class Successor: Sendable {
    /// What an exchange came to.
    struct Ending: Sendable {
        let result: Result<PipelineResponse, any Error>
        /// The convoy of those who share the result.
        let convoy: Convoy
    }

    /// The number of the exchange.
    let exchange: Int
    /// How often the table had been closed when the exchange was open.
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

    /// What the exchange came to; `nil` while it is in flight, when it was abandoned, and when there was no room to keep it.
    var ending: Ending? { state.withLock { $0 } }

    /// Keeps the result while there is room.
    func keep(_ ending: Ending) {
        guard room.enter() else { return }
        state.withLock { $0 = ending }
    }
}

/// Bounds how many results of ended exchanges are kept.
final class ResultRoom: Sendable {
    private let maximumCount: Int
    private let count = Atomic(0)

    init(maximumCount: Int) {
        self.maximumCount = maximumCount
    }

    /// Takes a place, unless all are taken.
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
