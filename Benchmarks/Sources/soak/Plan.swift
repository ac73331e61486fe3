/// Everything that is decided about a call in advance, derived only from the seed and the call's index.
struct Plan: Hashable, Sendable {
    /// The index of the call.
    let index: Int
    /// The index of the request.
    ///
    /// Every fiftieth call repeats the request of the call before it.
    let subject: Int
    let behaviour: Behaviour
    /// The index of the body that is sent or received.
    let variant: Int
    /// The first attempt that succeeds, for behaviours that may heal.
    let healsAt: Int
    /// The time after which the call is cancelled; `nil` if it is not cancelled.
    let cancelDelay: Duration?
    private let seed: UInt64

    /// - Parameters:
    ///   - seed: the seed of the run.
    ///   - index: the index of the call.
    ///   - cancelledShare: the share of calls that are cancelled, `0...1`.
    init(seed: UInt64, index: Int, cancelledShare: Double = 0) {
        let subject = index % 50 == 1 ? index - 1 : index
        let draw = Draw(seed: seed, index: subject)
        self.seed = seed
        self.index = index
        self.subject = subject
        behaviour = .drawn(by: draw)
        variant = draw.number(2, below: Payload.variantCount)
        healsAt = 2 + draw.number(3, below: 3)
        let own = Draw(seed: seed, index: index)
        let isCancelled = own.number(4, below: 1_000_000) < Int(cancelledShare * 1_000_000)
        cancelDelay = isCancelled ? .microseconds(own.number(5, below: 20_000)) : nil
    }

    /// Whether another call may have sent the same request and received the same response.
    var isShared: Bool { index % 50 <= 1 }

    /// Returns whether this attempt succeeds although earlier ones failed.
    func isHealed(at attempt: Int) -> Bool { behaviour.mayHeal && attempt >= healsAt }

    /// Returns the faults that the client injects into an attempt.
    func chaos(at attempt: Int) -> Chaos { Chaos(Draw(seed: seed, index: subject), attempt) }
}

/// Faults at the rates of Polly's example: 50 % of the attempts wait 0 to 20 ms, 2 % fail, 10 % get a wrong response.
struct Chaos: Hashable, Sendable {
    enum Injury: Hashable, Sendable {
        case none
        /// An error of an unknown type.
        case fault
        /// A 500 response instead of the real one.
        case outcome
    }

    let latency: Duration?
    let injury: Injury

    init(_ draw: Draw, _ attempt: Int) {
        let salt = UInt64(attempt) << 8
        latency =
            draw.number(salt | 1, below: 100) < 50 ? .microseconds(draw.number(salt | 2, below: 20_000)) : nil
        if draw.number(salt | 3, below: 100) < 2 {
            injury = .fault
        } else {
            injury = draw.number(salt | 4, below: 100) < 10 ? .outcome : .none
        }
    }
}
