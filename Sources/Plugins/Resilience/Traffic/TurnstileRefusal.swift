/// The reason why a ``Turnstile`` gave a call no permit.
struct TurnstileRefusal: Error, Sendable, Hashable {
    enum Reason: Sendable, Hashable {
        /// The line is full, or a call with a higher priority took the place of this one.
        case full
        /// The deadline has passed, or would pass before a permit is there.
        case tooLate
        /// The cost exceeds what the meter ever hands out.
        case tooCostly
        /// The call would have to wait, but must not.
        case mustNotWait
        /// The waiting task was cancelled.
        case cancelled
        /// The store of the permits is unavailable.
        case unavailable
        /// The circuit that has let the call pass has opened in the meantime.
        case circuitOpen
    }

    let reason: Reason
    /// The time until the next permits, if it is known.
    var wait: Duration?
}
