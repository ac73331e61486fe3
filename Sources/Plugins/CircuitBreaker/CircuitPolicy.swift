import Pipeline

/// Decides what the outcome of an exchange says about the server.
struct CircuitPolicy: Sendable {
    typealias Decide = @Sendable (Result<PipelineResponse, PipelineError>) -> CircuitBreakerPlugin.Verdict?

    let decide: Decide?

    /// Returns what a response says whose body has not been read.
    func ending(of response: PipelineResponse, isSimulated: () -> Bool) -> Circuit.Ending {
        if let verdict = decide?(.success(response)) { return verdict.ending }
        // A plugin inside has responded without an exchange.
        guard response.source == .network || isSimulated() else { return .ignored }
        let status = response.statusCode
        return status == 408 || status >= 500 && status != 501 ? .failure : .success
    }

    /// Returns what a failure says.
    ///
    /// If no exchange was made, a plugin inside has failed.
    func ending(of error: any Error, hasExchange: () -> Bool) -> Circuit.Ending {
        guard let error = error as? PipelineError, error.code != .cancelled else { return .ignored }
        if let verdict = decide?(.failure(error)) { return verdict.ending }
        return Self.isFailure(error.code) && hasExchange() ? .failure : .ignored
    }

    /// Returns what the failure of a body says.
    func ending(ofBody error: any Error) -> Circuit.Ending {
        if error is CancellationError { return .ignored }
        guard let error = error as? PipelineError else { return .failure }
        if error.code == .cancelled { return .ignored }
        return decide?(.failure(error))?.ending ?? .failure
    }

    /// Returns whether a code blames the server or the way to it.
    private static func isFailure(_ code: PipelineError.Code) -> Bool {
        switch code {
        // Without a network, all circuits would open, and delay the calls after it has returned.
        case .offline: false
        // The connections of this process are busy, which says nothing about the server.
        case .timeout(.pool): false
        case .connectionLost, .truncated: true
        case .timeout(.attempt), .timeout(.head), .timeout(.idle), .timeout(.write): true
        default: code.provesNothingSent
        }
    }
}
