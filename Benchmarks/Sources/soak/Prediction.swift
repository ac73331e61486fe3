import Pipeline

/// A prediction of how calls end.
struct Prediction: Sendable {
    /// The maximum number of attempts that the plugins of a run make.
    static let maximumAttempts = 3

    let payload: Payload
    let hasPlugins: Bool
    let hasChaos: Bool
    /// Whether the transport decodes bodies without a plugin.
    let transportDecodes: Bool

    /// The predicted end of one attempt.
    private struct Attempt {
        var kind: Outcome.Kind
        var exchangeCount = 1
        /// Whether the attempt is retried if the method allows it.
        var isRetried = false
    }

    /// Returns how the call ends if it is not cancelled.
    func outcome(of plan: Plan) -> Outcome {
        var exchangeCount = 0
        var attempt = 1
        while true {
            let ended = injury(of: plan, at: attempt) ?? answer(to: plan, at: attempt)
            exchangeCount += ended.exchangeCount
            guard hasPlugins, ended.isRetried, !plan.behaviour.isEcho, attempt < Self.maximumAttempts else {
                let isKnown = !plan.isShared && plan.behaviour != .streamedTruncated
                return Outcome(ended.kind, exchangeCount: isKnown ? exchangeCount : nil)
            }
            attempt += 1
        }
    }

    private func injury(of plan: Plan, at attempt: Int) -> Attempt? {
        guard hasChaos else { return nil }
        switch plan.chaos(at: attempt).injury {
        case .none: return nil
        case .fault: return Attempt(kind: .failure(.plugin), exchangeCount: 0)
        case .outcome: return Attempt(kind: response(500, Digest()), exchangeCount: 0, isRetried: true)
        }
    }

    private func answer(to plan: Plan, at attempt: Int) -> Attempt {
        let body = payload.bodies[plan.variant]
        if plan.isHealed(at: attempt) { return Attempt(kind: response(200, body.digest)) }
        switch plan.behaviour {
        case .plain, .chunked, .closeDelimited, .stalled, .drip, .echo:
            return Attempt(kind: response(200, body.digest))
        case .redirected, .movedEcho:
            return Attempt(kind: response(200, body.digest), exchangeCount: 2)
        case .gzip:
            return Attempt(kind: response(200, hasPlugins || transportDecodes ? body.digest : body.gzipDigest))
        case .unavailable:
            return Attempt(kind: response(503, body.digest), isRetried: true)
        case .unauthorized:
            return Attempt(kind: response(401, body.digest))
        case .truncated:
            return Attempt(kind: .failure(.truncated), isRetried: true)
        case .streamedTruncated:
            return Attempt(kind: .failure(.truncated))
        case .reset, .empty:
            return Attempt(kind: .failure(.connectionLost), isRetried: true)
        case .malformed:
            return Attempt(kind: .failure(.malformedResponse))
        case .head:
            return Attempt(kind: response(200, Digest()))
        case .noContent:
            return Attempt(kind: response(204, Digest()))
        case .notModified:
            return Attempt(kind: response(304, Digest()))
        case .large, .streamed:
            return Attempt(kind: response(200, payload.largeDigest))
        case .dropped:
            return Attempt(kind: response(200, payload.halfDigest))
        case .cookies:
            return Attempt(kind: .response(status: 200, body.digest, cookies: Answer.cookies))
        }
    }

    private func response(_ status: Int, _ digest: Digest) -> Outcome.Kind {
        .response(status: status, digest, cookies: [])
    }
}
