import Pipeline

/// The permit of a request that has passed a circuit and has not been sent yet, because it may wait in a line inside.
struct CircuitPass: Sendable {
    /// The pass of the request that the current task sends; `nil` without a circuit breaker.
    @TaskLocal static var current: CircuitPass?

    let circuit: SharedCircuit

    /// Calls a closure once if the circuit is open, or opens before the watch ends.
    func watch(_ opened: @escaping @Sendable () -> Void) -> Watch {
        let watch = Watch(circuit: circuit, number: circuit.add(opened))
        if watch.number == nil { opened() }
        return watch
    }

    /// The registration of a closure.
    struct Watch {
        fileprivate let circuit: SharedCircuit
        fileprivate let number: Int?

        func end() {
            if let number { circuit.removeWatch(number) }
        }
    }
}

/// The circuit of a request that waits in a line has opened; the plugin that has let it pass refuses it.
struct CircuitHasOpened: Error {}
