import PipelineCore

/// A challenge with a scheme that `CredentialsPlugin` supports.
struct AnswerableChallenge: Sendable, Equatable {
    /// The challenge as the server sent it.
    let source: AuthenticationChallenge
    /// The parts of a Digest challenge; `nil` for Basic.
    let digest: DigestChallenge?

    init?(_ challenge: AuthenticationChallenge) {
        source = challenge
        digest = DigestChallenge(challenge)
        guard digest != nil || challenge.isScheme("Basic") else { return nil }
    }

    var realm: String { source.realm ?? "" }

    private var strength: Int { digest.map { $0.algorithm.rawValue + 1 } ?? 0 }

    /// Returns the supported challenges of a response, the strongest first.
    ///
    /// Equally strong ones keep their order.
    static func all(in response: PipelineResponse) -> [AnswerableChallenge] {
        AuthenticationChallenge.challenges(in: response.headers)
            .compactMap { AnswerableChallenge($0) }
            .enumerated()
            .sorted { ($1.element.strength, $0.offset) < ($0.element.strength, $1.offset) }
            .map(\.element)
    }
}
