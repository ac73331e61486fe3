public import PipelineCore

/// Something that a ``ChaosPlugin`` does to a share of the exchanges.
///
/// ```swift
/// ChaosPlugin(.fault(.connectionLost, rate: 0.01), .latency(.seconds(1)...(.seconds(3)), rate: 0.05))
/// ```
///
/// Every rate is in `0...1`: of 1,000 exchanges, a rate of 0.01 affects about 10.
public struct ChaosEffect: Sendable {
    /// How a body is broken.
    public struct BodyFault: Sendable, Hashable {
        let code: PipelineError.Code?

        /// The body ends too early, without an error, as if the server had sent no more.
        public static let truncated = BodyFault(code: nil)

        /// Reading the body fails with a code.
        public static func fails(_ code: PipelineError.Code) -> BodyFault { BodyFault(code: code) }
    }

    enum Kind: Sendable {
        case fault(PipelineError.Code)
        case lostResponse(PipelineError.Code)
        case latency(ClosedRange<Duration>)
        case status(Int)
        case brokenBody(BodyFault)
    }

    let kind: Kind
    let rate: Double

    private init(_ kind: Kind, _ rate: Double) {
        precondition((0...1).contains(rate), "rate is \(rate), not in 0...1")
        self.kind = kind
        self.rate = rate
    }

    /// Fails with a code, such as `connect(.refused)`, before the request is sent.
    public static func fault(_ code: PipelineError.Code, rate: Double) -> ChaosEffect {
        ChaosEffect(.fault(code), rate)
    }

    /// Sends the request, and then fails with a code instead of passing the response on.
    public static func lostResponse(_ code: PipelineError.Code = .connectionLost, rate: Double) -> ChaosEffect {
        ChaosEffect(.lostResponse(code), rate)
    }

    /// Waits before the request is sent, each time for a random duration in a range that begins at zero or above.
    public static func latency(_ latency: ClosedRange<Duration>, rate: Double) -> ChaosEffect {
        precondition(latency.lowerBound >= .zero, "latency begins at \(latency.lowerBound), less than zero")
        return ChaosEffect(.latency(latency), rate)
    }

    /// Sends the request, and replaces its response by an empty one with another status, `100...999`.
    public static func status(_ code: Int, rate: Double) -> ChaosEffect {
        precondition((100...999).contains(code), "code is \(code), not in 100...999")
        return ChaosEffect(.status(code), rate)
    }

    /// Passes on half of the first piece of the body, which then ends or fails.
    public static func brokenBody(_ fault: BodyFault, rate: Double) -> ChaosEffect {
        ChaosEffect(.brokenBody(fault), rate)
    }
}
