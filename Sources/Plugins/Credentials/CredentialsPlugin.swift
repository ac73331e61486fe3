import HTTPTypes
public import Pipeline
import Synchronization

/// Answers a server that asks for a user name and a password, by Digest or Basic.
///
/// ```swift
/// CredentialsPlugin { challenge in
///     try await keychain.credential(realm: challenge.realm)
/// }
/// CredentialsPlugin(
///     account: { target in (target as? TenantTarget)?.tenant ?? "" },
///     credential: { tenant, challenge in try await keychain.credential(for: tenant, realm: challenge.realm) }
/// )
/// ```
///
/// **Position**: it answers on each hop of a redirect, inside all plugins of the call. Outside exchange plugins that must see the answer,
/// such as one that limits requests; inside those that change the method or the URL, which Digest covers. With `account`, outside
/// a plugin that shares responses. Outside or inside an `AccessTokenPlugin` or a `BasicAuthPlugin`, whose Authorization stays.
///
/// **Effects**: a 401 that asks for Basic or Digest (MD5, MD5-sess, SHA-256, SHA-256-sess; quality of protection `auth`, or none) is
/// answered by sending the request of the hop again with Authorization; its body is discarded, see
/// `PipelineResponse.discardBody(_:within:)`. Of several challenges the strongest is
/// answered for which the closure has a credential: SHA-256, then MD5, then Basic; of a realm for which it has none it is not asked
/// again. Another algorithm, only `auth-int`, and a malformed challenge are left out.
///
/// A second 401 is returned, but for a nonce that is stale, which is answered once with the new one, without asking. So is a 401 to a
/// request whose body cannot be sent again, one from another origin than the endpoint's or reached over one, and one
/// to an Authorization that somebody else has set. A 407 is passed on: proxies are the transport's.
///
/// Later requests to the same space carry the answer from the beginning. The space is the origin for Digest, or what its `domain`
/// names there; for Basic the paths at or below that of the request. For them the closure is asked before they are sent. What is
/// kept is the challenge and how often its nonces were used, never a credential: each nonce is counted from 1, each use once, also
/// by calls at the same time. The server's `nextnonce` is used; its `rspauth` is not looked at.
///
/// Calls of different accounts share no response, see `PipelineContext.addIdentity(_:)`; without `account`, all calls are of one.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `spaceCount` | 64; the one used least recently goes | spaces that are kept, with 16 nonces each | 1 and up |
/// | `cleartext` | `.loopbackOnly`: Basic is sent over http only to a loopback address; Digest shows no password and always is | | |
///
/// **Errors**: what the closures throw, as the underlying error of code `plugin`; `invalidRequest.credential` for a user name or a
/// password that the scheme cannot carry, as with `BasicAuthPlugin`, and for Basic over http to another machine.
///
/// **Secrets**: the field is marked as secret and dropped when a redirect leaves the origin; no error names the user or the
/// password.
///
/// Source: RFC 7616, https://www.rfc-editor.org/rfc/rfc7616.html, RFC 7617, https://www.rfc-editor.org/rfc/rfc7617.html
public final class CredentialsPlugin: Stage.Prepare, Stage.Exchange {
    private let cleartext: CleartextPolicy
    private let account: (@Sendable (any TargetType) async throws -> String)?
    private let credential: @Sendable (String, AuthenticationChallenge) async throws -> PasswordCredential?
    private let spaces: Mutex<ProtectionSpaces>

    /// An Authorization, and what it was made from.
    private struct Answer {
        let challenge: AnswerableChallenge
        let credential: PasswordCredential
        let key: ProtectionSpaces.Key
        let value: String
    }

    /// Makes a plugin for one account.
    ///
    /// - Parameters:
    ///   - spaceCount: how many protection spaces are kept, 1 and up.
    ///   - cleartext: where a password for Basic may be sent over http.
    ///   - credential: gives the credential for a challenge, `nil` for none; it may wait, and may throw. It is asked
    ///     on each hop that needs one, and should remember what it has asked a person for.
    public convenience init(
        spaceCount: Int = 64,
        cleartext: CleartextPolicy = .loopbackOnly,
        credential: @escaping @Sendable (_ challenge: AuthenticationChallenge) async throws -> PasswordCredential?
    ) {
        self.init(spaceCount, cleartext, nil) { try await credential($1) }
    }

    /// Makes a plugin for several accounts.
    ///
    /// - Parameters:
    ///   - spaceCount: how many protection spaces are kept, 1 and up, by all accounts together.
    ///   - cleartext: where a password for Basic may be sent over http.
    ///   - account: whose call it is, such as the identifier of a tenant or of the user who is logged in; asked once per call,
    ///     before anything is sent. It may wait, and may throw.
    ///   - credential: gives the credential of an account for a challenge, as above.
    public convenience init(
        spaceCount: Int = 64,
        cleartext: CleartextPolicy = .loopbackOnly,
        account: @escaping @Sendable (_ target: any TargetType) async throws -> String,
        credential:
            @escaping @Sendable (_ account: String, _ challenge: AuthenticationChallenge) async throws ->
            PasswordCredential?
    ) {
        self.init(spaceCount, cleartext, account, credential)
    }

    private init(
        _ spaceCount: Int,
        _ cleartext: CleartextPolicy,
        _ account: (@Sendable (any TargetType) async throws -> String)?,
        _ credential: @escaping @Sendable (String, AuthenticationChallenge) async throws -> PasswordCredential?
    ) {
        precondition(spaceCount > 0, "spaceCount is \(spaceCount), not 1 or more")
        self.cleartext = cleartext
        self.account = account
        self.credential = credential
        spaces = Mutex(ProtectionSpaces(maximumCount: spaceCount))
    }

    /// Notes whose call it is.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        let key = ObjectIdentifier(self)
        guard let account, context[CallAccounts.self][key] == nil else { return }
        let name = try await account(context.target)
        let first = context.update(CallAccounts.self) { accounts in
            if accounts[key] == nil { accounts[key] = name }
            return accounts[key] ?? name
        }
        context.addIdentity("\(self.name) \(first)")
    }

    /// Answers challenges.
    public func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        guard mayAnswer(request, context), !request.headers.contains(.authorization) else {
            return try await send(request)
        }
        var answer = try await answerAhead(request, context)
        var hasAsked = false
        var hasRenewed = false
        while true {
            var sent = request
            if let answer { try sent.setHeader(answer.value, for: .authorization, isSecret: true) }
            var response = try await send(sent)
            if let answer { takeNextNonce(from: response, answer, context) }
            guard isChallenge(response, to: answer, context), request.body.isReplayable else { return response }
            let challenges = AnswerableChallenge.all(in: response)
            if !hasRenewed, let last = answer, let fresh = Self.renewal(of: last, in: challenges) {
                hasRenewed = true
                answer = try makeAnswer(fresh, last.credential, for: request, context)
            } else if !hasAsked, let (challenge, credential) = try await ask(challenges, context) {
                hasAsked = true
                answer = try makeAnswer(challenge, credential, for: request, context)
            } else {
                return response
            }
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
            try CredentialScope.check(request, cleartext, "a password")
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
        let name = context[CallAccounts.self][ObjectIdentifier(self)]
        // Without a name it is nobody's call.
        guard let name = account == nil ? "" : name else { return nil }
        for challenge in challenges where !refused.contains(challenge.realm) {
            if let credential = try await credential(name, challenge.source) {
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

    /// Whether a request goes where the account is known: to the endpoint's origin, and not by way of another one.
    private func mayAnswer(_ request: PipelineRequest, _ context: PipelineContext) -> Bool {
        !context.hasLeftOrigin && context.endpoint.hasOrigin(of: request)
    }

    /// Whether a response asks for what this plugin gives.
    private func isChallenge(
        _ response: PipelineResponse,
        to answer: Answer?,
        _ context: PipelineContext
    ) -> Bool {
        response.statusCode == 401 && response.request.headers[.authorization] == answer?.value
            && mayAnswer(response.request, context)
    }

    /// The same challenge with a new nonce, when all that was wrong with an answer was its nonce.
    private static func renewal(of answer: Answer, in challenges: [AnswerableChallenge]) -> AnswerableChallenge? {
        guard answer.challenge.digest != nil else { return nil }
        return challenges.first { $0.realm == answer.challenge.realm && $0.digest?.isStale == true }
    }

    private func takeNextNonce(from response: PipelineResponse, _ answer: Answer, _ context: PipelineContext) {
        guard answer.challenge.digest != nil, let name = HTTPField.Name("Authentication-Info"),
            let field = response.headers[name], mayAnswer(response.request, context),
            let nonce = ChallengeParser.parameters(of: field)?["nextnonce"], !nonce.isEmpty, nonce.utf8.count <= 4096
        else { return }
        let clientNonce = Self.makeClientNonce(context)
        spaces.withLock { $0.setNext(nonce, in: answer.key, clientNonce: clientNonce) }
    }
}

/// The accounts of a call, by the plugin that asked for them.
private enum CallAccounts: PipelineContextKey {
    static let defaultValue: [ObjectIdentifier: String] = [:]
    static let isInherited = true
}

extension CredentialsPlugin: CapabilityDeclaring {
    /// `PluginCapability.answersChallenges`, and with several accounts `PluginCapability.setsCredential` and
    /// `PluginCapability.identifiesCalls`.
    public var capabilities: Set<PluginCapability> {
        account == nil ? [.answersChallenges] : [.answersChallenges, .setsCredential, .identifiesCalls]
    }
}
