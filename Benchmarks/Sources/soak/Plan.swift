/// All that is decided of a call before it is made, from the seed and its index alone.
struct Plan: Hashable, Sendable {
    /// Which call it is.
    let index: Int
    /// What is asked: every fiftieth call asks what the one before it asks.
    let subject: Int
    let behaviour: Behaviour
    /// Which body is sent, or answered with.
    let variant: Int
    /// The first attempt that is answered well, of behaviours that may heal.
    let healsAt: Int
    /// When the call is cancelled.
    let cancelDelay: Duration?
    private let seed: UInt64

    /// - Parameters:
    ///   - seed: that of the run.
    ///   - index: the number of the call.
    ///   - cancelledShare: how many of all calls are cancelled, `0...1`.
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

    /// Whether another call may have asked the same, and been given the same answer.
    var isShared: Bool { index % 50 <= 1 }

    /// Whether the server behaves well at this attempt.
    func isHealed(at attempt: Int) -> Bool { behaviour.mayHeal && attempt >= healsAt }

    /// What goes wrong within the client at an attempt.
    func chaos(at attempt: Int) -> Chaos { Chaos(Draw(seed: seed, index: subject), attempt) }
}

/// Faults at the rates of Polly's example: 50 % of the attempts wait 0 to 20 ms, 2 % fail, 10 % are answered wrongly.
struct Chaos: Hashable, Sendable {
    enum Injury: Hashable, Sendable {
        case none
        /// An error that nobody knows.
        case fault
        /// 500 in place of the answer.
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
