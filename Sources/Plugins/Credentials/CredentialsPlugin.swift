import HTTPTypes
public import Pipeline
import Synchronization

/// Answers a server that asks for a user name and a password, by Digest or Basic.
///
/// ```swift
/// CredentialsPlugin { target, challenge in
///     try await keychain.credential(for: target, realm: challenge.realm)
/// }
/// ```
///
/// **Position**: inside a plugin that sends again, so that each attempt has an answer of its own: a nonce's number is good once. Outside a
/// plugin that shares requests, which then sees whose they are. Inside every plugin that changes the method or the URL, which
/// Digest covers. Outside or inside an `AccessTokenPlugin` or a `BasicAuthPlugin`, whose Authorization stays.
///
/// **Effects**: a 401 that asks for Basic or Digest (MD5, MD5-sess, SHA-256, SHA-256-sess; quality of protection `auth`, or none) is
/// answered by sending the request again with Authorization; its body is discarded, see
/// `PipelineResponse.discardBody(_:within:)`. Of several challenges the strongest is
/// answered for which the closure has a credential: SHA-256, then MD5, then Basic; of a realm for which it has none it is not asked
/// again. Another algorithm, only `auth-int`, and a malformed challenge are left out.
///
/// A second 401 is given back, but for a nonce that is stale, and where a redirect has led to a request that a Digest answer does not
/// cover: that is answered once with the new nonce, without asking. Given back is also a 401 to a request whose body cannot be sent again, one from another origin than the endpoint's or reached over one, and one
/// to an Authorization that somebody else has set. A 407 is passed on: proxies are the transport's.
///
/// Later requests to the same space carry the answer from the beginning. The space is the origin for Digest, or what its `domain`
/// names there; for Basic the paths at or below that of the request. For them the closure is asked before they are sent. What is
/// kept is the challenge and how often its nonces were used, never a credential: each nonce is counted from 1, each use once, also
/// by calls at the same time. The server's `nextnonce` is used; its `rspauth` is not looked at. When a redirect within the
/// origin leads to a challenge, the request it led to is sent again.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `spaceCount` | 64; the one used least recently goes | spaces that are kept, with 16 nonces each | 1 and up |
/// | `allowsCleartext` | `false`: Basic is not answered over http, except to the machine itself; Digest is, as it shows no password | | |
///
/// **Errors**: what the closure throws, as the underlying error of code `plugin`; `invalidRequest.credential` for a user name or a
/// password that the scheme cannot carry, as with `BasicAuthPlugin`, and for Basic over http to another machine.
///
/// **Secrets**: the field is marked as secret and dropped when a redirect leaves the origin; no error names the user or the
/// password.
///
/// Source: RFC 7616, https://www.rfc-editor.org/rfc/rfc7616.html, RFC 7617, https://www.rfc-editor.org/rfc/rfc7617.html
public final class CredentialsPlugin: Stage.Intercept {
    private let allowsCleartext: Bool
    private let credential: @Sendable (any TargetType, AuthenticationChallenge) async throws -> PasswordCredential?
    private let spaces: Mutex<ProtectionSpaces>

    /// An Authorization, and what it was made from.
    private struct Answer {
        let challenge: AnswerableChallenge
        let credential: PasswordCredential
        let key: ProtectionSpaces.Key
        let value: String
    }

    /// Makes a plugin.
    ///
    /// - Parameters:
    ///   - spaceCount: how many protection spaces are kept, 1 and up.
    ///   - allowsCleartext: whether Basic may be answered over http; always allowed to the machine itself.
    ///   - credential: gives the credential for a target and a challenge, `nil` for none; it may wait, and may throw. It is asked
    ///     in each call that needs one, and should remember what it has asked a person for.
    public init(
        spaceCount: Int = 64,
        allowsCleartext: Bool = false,
        credential:
            @escaping @Sendable (_ target: any TargetType, _ challenge: AuthenticationChallenge) async throws ->
            PasswordCredential?
    ) {
        precondition(spaceCount > 0, "spaceCount is \(spaceCount), not 1 or more")
        self.allowsCleartext = allowsCleartext
        self.credential = credential
        spaces = Mutex(ProtectionSpaces(maximumCount: spaceCount))
    }

    /// Answers challenges.
    public func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Next
    ) async throws -> PipelineResponse {
        guard CredentialScope.isOwnOrigin(request, context), !request.headers.contains(.authorization) else {
            return try await next(request)
        }
        var request = request
        var answer = try await answerAhead(request, context)
        var hasAsked = false
        var hasRenewed = false
        while true {
            var sent = request
            if let answer { try sent.setHeader(answer.value, for: .authorization, isSecret: true) }
            var response = try await next(sent)
            if let answer { takeNextNonce(from: response, answer, context) }
            guard let challenged = challengedRequest(request, response, answer, context) else { return response }
            let challenges = AnswerableChallenge.all(in: response)
            let isElsewhere = challenged.method != request.method || challenged.head.path != request.head.path
            if !hasRenewed, let last = answer, let fresh = Self.renewal(of: last, in: challenges, isElsewhere) {
                hasRenewed = true
                answer = try makeAnswer(fresh, last.credential, for: challenged, context)
            } else if !hasAsked, let (challenge, credential) = try await ask(challenges, context) {
                hasAsked = true
                answer = try makeAnswer(challenge, credential, for: challenged, context)
            } else {
                return response
            }
            request = challenged
            await response.discardBody(context)
        }
    }

    // MARK: Answers

    /// The answer to a challenge that is known from an earlier call.
    private func answerAhead(_ request: PipelineRequest, _ context: PipelineContext) async throws -> Answer? {
        guard let space = spaces.withLock({ $0.space(of: request) }),
            let (challenge, credential) = try await ask([space.challenge], context)
        else { return nil }
        return try makeAnswer(challenge, credential, for: request, context, isKnown: true)
    }

    private func makeAnswer(
        _ challenge: AnswerableChallenge,
        _ credential: PasswordCredential,
        for request: PipelineRequest,
        _ context: PipelineContext,
        isKnown: Bool = false
    ) throws -> Answer? {
        let key = ProtectionSpaces.Key(origin: request.origin, realm: challenge.realm)
        guard let digest = challenge.digest else {
            try CredentialScope.requireConfidential(request, allowsCleartext: allowsCleartext, "a password")
            let value = try credential.basicAuthorization()
            if !isKnown { spaces.withLock { $0.admit(challenge, to: request) } }
            return Answer(challenge: challenge, credential: credential, key: key, value: value)
        }
        let clientNonce = Self.makeClientNonce(context)
        let use = spaces.withLock { spaces in
            if !isKnown { spaces.admit(challenge, to: request) }
            return spaces.use(key, nonce: isKnown ? nil : digest.nonce, clientNonce: clientNonce)
        }
        guard let use else { return nil }
        let value = try digest.authorization(
            credential,
            method: request.method.rawValue,
            target: request.head.path ?? "/",
            use
        )
        return Answer(challenge: challenge, credential: credential, key: key, value: value)
    }

    /// The first credential for one of the challenges.
    private func ask(
        _ challenges: [AnswerableChallenge],
        _ context: PipelineContext
    ) async throws -> (AnswerableChallenge, PasswordCredential)? {
        var refused: Set<String> = []
        for challenge in challenges where !refused.contains(challenge.realm) {
            if let credential = try await credential(context.target, challenge.source) {
                return (challenge, credential)
            }
            refused.insert(challenge.realm)
        }
        return nil
    }

    private static func makeClientNonce(_ context: PipelineContext) -> String {
        var random = context.random
        return (0..<4).map { _ in String(UInt32.random(in: 0x1000_0000 ... .max, using: &random), radix: 16) }.joined()
    }

    // MARK: Challenges

    /// The request that a 401 was the answer to, when it is this plugin's to answer and can be sent again.
    private func challengedRequest(
        _ request: PipelineRequest,
        _ response: PipelineResponse,
        _ answer: Answer?,
        _ context: PipelineContext
    ) -> PipelineRequest? {
        guard response.statusCode == 401, response.request.headers[.authorization] == answer?.value,
            CredentialScope.isOwnOrigin(response.request, context)
        else { return nil }
        var challenged = request
        for exchange in response.exchanges.reversed() {
            if exchange.hop == 0 { break }
            guard CredentialScope.isOwnOrigin(exchange.request, context) else { return nil }
            challenged = Self.redirected(request, to: response.request)
        }
        return challenged.body.isReplayable ? challenged : nil
    }

    /// The request as a redirect has made it, without what the plugins inside have added to it.
    private static func redirected(_ request: PipelineRequest, to end: PipelineRequest) -> PipelineRequest {
        var request = request
        request.method = end.method
        request.head.path = end.head.path
        if end.body.isNone, !request.body.isNone {
            request.body = .none
            for name in [HTTPField.Name.contentType, .contentLength, .contentEncoding] { request.headers[name] = nil }
        }
        return request
    }

    /// The same challenge with a new nonce, when all that was wrong with an answer was its nonce, or the request it was made for.
    private static func renewal(
        of answer: Answer,
        in challenges: [AnswerableChallenge],
        _ isElsewhere: Bool
    ) -> AnswerableChallenge? {
        guard answer.challenge.digest != nil else { return nil }
        return challenges.first { challenge in
            challenge.realm == answer.challenge.realm
                && challenge.digest.map { $0.isStale || isElsewhere } == true
        }
    }

    private func takeNextNonce(from response: PipelineResponse, _ answer: Answer, _ context: PipelineContext) {
        guard answer.challenge.digest != nil, let name = HTTPField.Name("Authentication-Info"),
            let field = response.headers[name], CredentialScope.isOwnOrigin(response.request, context),
            let nonce = ChallengeParser.parameters(of: field)?["nextnonce"], !nonce.isEmpty, nonce.utf8.count <= 4096
        else { return }
        let clientNonce = Self.makeClientNonce(context)
        spaces.withLock { $0.setNext(nonce, in: answer.key, clientNonce: clientNonce) }
    }
}

extension CredentialsPlugin: CapabilityDeclaring {
    /// ``PluginCapability/setsCredential`` and ``PluginCapability/answersChallenges``.
    public var capabilities: Set<PluginCapability> { [.setsCredential, .answersChallenges] }
}
