/// The state of a circuit of a ``CircuitBreakerPlugin``.
public enum CircuitState: String, Sendable {
    /// Requests pass, and their outcomes are counted.
    case closed
    /// Requests are refused until the break has passed.
    case open
    /// A limited number of requests pass as probes; the others are refused until the probes have ended.
    case halfOpen
    /// Requests are refused until the circuit is reset.
    case isolated
}
