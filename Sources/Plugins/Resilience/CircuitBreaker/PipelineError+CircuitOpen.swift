public import PipelineCore

extension PipelineError.Code {
    /// A ``CircuitBreakerPlugin`` has refused the request, because its circuit is open.
    ///
    /// Nothing was sent. The `retryAfter` of the error is the time until the next probe, if it is known.
    public static let circuitOpen = Self(rawValue: "circuitOpen")
}

extension PipelineError {
    /// Returns the error of a request that a circuit has refused.
    static func refused(by circuit: SharedCircuit, in state: CircuitState, retryAfter: Duration?) -> PipelineError {
        let name = "the circuit of \(circuit.name ?? "its partition")"
        let cause = circuit.cause
        let after = cause.map { " after \($0.text)" } ?? ""
        return switch state {
        case .isolated: refused(.circuitOpen, "\(name) is isolated until it is reset")
        case .closed, .halfOpen:
            refused(.circuitOpen, "\(name) is half-open\(after), and its probes have not ended", cause: cause)
        case .open:
            refused(
                .circuitOpen,
                "\(name) is open\(after), and the next probe is due in \(PipelineError.text(of: retryAfter ?? .zero))",
                retryAfter: retryAfter,
                cause: cause
            )
        }
    }
}
