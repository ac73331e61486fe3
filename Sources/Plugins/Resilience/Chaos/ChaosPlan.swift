import PipelineCore

/// What happens to one exchange.
struct ChaosPlan: Sendable {
    private(set) var latency: Duration = .zero
    private(set) var fault: PipelineError.Code?
    private(set) var lostResponse: PipelineError.Code?
    private(set) var status: Int?
    private(set) var brokenBody: ChaosEffect.BodyFault?

    /// Draws what happens.
    ///
    /// Each effect draws the same number of times whether or not it applies, so that a change of one rate leaves what
    /// the others do as it is. Latencies add up; of other effects that exclude each other, the first counts.
    init(_ effects: [ChaosEffect], using random: inout some RandomNumberGenerator) {
        for effect in effects {
            let applies = Double.random(in: 0..<1, using: &random) < effect.rate
            let part = Double.random(in: 0..<1, using: &random)
            guard applies else { continue }
            switch effect.kind {
            case .fault(let code): fault = fault ?? code
            case .lostResponse(let code): lostResponse = lostResponse ?? code
            case .latency(let range): latency += range.lowerBound + (range.upperBound - range.lowerBound) * part
            case .status(let code): status = status ?? code
            case .brokenBody(let fault): brokenBody = brokenBody ?? fault
            }
        }
    }
}
