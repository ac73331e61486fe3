import PipelineCore

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
    ///
    /// - Parameters:
    ///   - error: the failure of an exchange or of a body.
    ///   - isLate: whether the time of the call is up.
    ///   - hasExchange: whether an exchange was made.
    /// - Returns: `ignored` if it says nothing about the server.
    func ending(of error: any Error, isLate: () -> Bool, hasExchange: () -> Bool) -> Circuit.Ending {
        // The call was cancelled because its time was up, so the server was too slow.
        if error.isCancellation { return isLate() && hasExchange() ? .failure : .ignored }
        guard let error = error as? PipelineError else { return .ignored }
        if let verdict = decide?(.failure(error)) { return verdict.ending }
        return Self.isFailure(error.code) && hasExchange() ? .failure : .ignored
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

extension Error {
    fileprivate var isCancellation: Bool { self is CancellationError || (self as? PipelineError)?.code == .cancelled }
}
