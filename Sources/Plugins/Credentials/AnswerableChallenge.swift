import Pipeline

/// A challenge of a scheme that `CredentialsPlugin` can answer.
struct AnswerableChallenge: Sendable, Equatable {
    /// What the server sent.
    let source: AuthenticationChallenge
    /// Its parts when it is Digest, `nil` when it is Basic.
    let digest: DigestChallenge?

    init?(_ challenge: AuthenticationChallenge) {
        source = challenge
        digest = DigestChallenge(challenge)
        guard digest != nil || challenge.isScheme("Basic") else { return nil }
    }

    var realm: String { source.realm ?? "" }

    private var strength: Int { digest.map { $0.algorithm.rawValue + 1 } ?? 0 }

    /// Those of a response that can be answered, the strongest first, else in their order.
    static func all(in response: PipelineResponse) -> [AnswerableChallenge] {
        AuthenticationChallenge.challenges(in: response.headers)
            .compactMap { AnswerableChallenge($0) }
            .enumerated()
            .sorted { ($1.element.strength, $0.offset) < ($0.element.strength, $1.offset) }
            .map(\.element)
    }
}
