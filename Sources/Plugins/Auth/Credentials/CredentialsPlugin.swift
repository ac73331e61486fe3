import HTTPTypes
public import PipelineCore
public import PipelinePlugins
import Synchronization

/// A plugin that authenticates with a user name and a password when a server asks for them, by Digest or Basic.
///
/// ```swift
/// CredentialsPlugin { challenge in
///     try await keychain.credential(realm: challenge.realm)
/// }
/// CredentialsPlugin(
///     account: { target in try tenant(of: target) },
///     credential: { tenant, challenge in try await keychain.credential(for: tenant, realm: challenge.realm) }
/// )
/// ```
///
/// **Effects**
///
/// - If a 401 asks for Basic or Digest, gets a credential from the closure and retries the request of the hop with
///   Authorization. Digest may use MD5, MD5-sess, SHA-256 or SHA-256-sess, with quality of protection `auth` or none.
///   The body of the 401 is discarded; see `PipelineResponse.discardBody(_:within:)`.
/// - Of several challenges, picks the strongest for which the closure returns a credential: SHA-256, then MD5, then
///   Basic. If the closure returns `nil` for a realm, skips the other challenges of that realm. Challenges that are
///   malformed, have another algorithm or offer only `auth-int` are ignored.
/// - Returns a second 401 to the caller, unless it says that the nonce is stale. In that case, retries once with the
///   new nonce, without running the closure.
/// - Returns the 401 if the body of the request cannot be replayed, or if the request has an Authorization that the
///   plugin did not set. The same applies to a 401 from an origin other than the endpoint's, or after a redirect
///   through one.
/// - Passes on a 407, because proxies are the transport's concern.
/// - Sends Authorization from the start with later requests to the same protection space, after running the closure.
///   For Digest, the space is the origin, or the part of it that `domain` names. For Basic, it is the paths at or below
///   that of the request.
/// - Keeps the challenge and the use counts of its nonces, never a credential. Counts the uses of each nonce from 1,
///   each exactly once, even if calls run at the same time. Uses the server's `nextnonce`, and ignores its `rspauth`.
/// - Calls of different accounts share no response; see `PipelineContext.addIdentity(_:of:)`. Without `account`, it is
///   not known whose credential the closure returns: `DeduplicationPlugin` shares no response to a request with it,
///   a private `CachePlugin` without accounts stores none, and a call that gets its challenge after a change of user
///   has the credential of the later one.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `spaceCount` | 64; the least recently used one is dropped | spaces that are kept, with 16 nonces each | 1 and up |
/// | `scope` | `CredentialScope.endpoint` | | |
/// | `cleartext` | `.loopbackOnly`: Basic is sent over http only to a loopback address; Digest is always sent, because it shows no password | | |
///
/// **Position**
///
/// - Challenges are handled on each hop of a redirect, inside all plugins of the call.
/// - Outside exchange plugins that must see the request with Authorization, such as one that limits requests.
/// - Inside exchange plugins that change the method or the URL, because Digest covers both.
/// - With `account`, outside a plugin that shares responses.
/// - Inside or outside `AccessTokenPlugin` and `BasicAuthPlugin`, whose Authorization stays.
///
/// **Errors**
///
/// - An error that a closure throws becomes the underlying error of a failure with code `plugin`.
/// - `invalidRequest.credential`: the scheme cannot carry the user name or the password, as with `BasicAuthPlugin`,
///   or `cleartext` does not allow Basic for the request.
///
/// **Secrets**: the field is marked as secret and dropped when a redirect leaves the origin. No error shows the user
/// name or the password.
///
/// Source: RFC 7616, https://www.rfc-editor.org/rfc/rfc7616.html, RFC 7617, https://www.rfc-editor.org/rfc/rfc7617.html
public final class CredentialsPlugin: Stage.Prepare, Stage.Exchange {
    private let scope: CredentialScope
    private let cleartext: CleartextPolicy
    private let account: (@Sendable (any TargetType) async throws -> String)?
    private let credential: @Sendable (String, AuthenticationChallenge) async throws -> PasswordCredential?
    private let spaces: Mutex<ProtectionSpaces>

    /// An Authorization value and what it was computed from.
    private struct Answer {
        let challenge: AnswerableChallenge
        let credential: PasswordCredential
        let key: ProtectionSpaces.Key
        let value: String
    }

    /// Creates a plugin for one account.
    ///
    /// - Parameters:
    ///   - spaceCount: the number of protection spaces to keep, 1 and up.
    ///   - scope: the requests that may carry the credential; defaults to those to the endpoint's own origin.
    ///   - cleartext: where a password for Basic may be sent over http.
    ///   - credential: returns the credential for a challenge, or `nil` for none. It may suspend and throw. It runs on
    ///     each hop that needs a credential, so it should remember what it has asked a person for.
    public convenience init(
        spaceCount: Int = 64,
        scope: CredentialScope = .endpoint,
        cleartext: CleartextPolicy = .loopbackOnly,
        credential: @escaping @Sendable (_ challenge: AuthenticationChallenge) async throws -> PasswordCredential?
    ) {
        self.init(spaceCount, scope, cleartext, nil) { try await credential($1) }
    }

    /// Creates a plugin for several accounts.
    ///
    /// - Parameters:
    ///   - spaceCount: the number of protection spaces to keep for all accounts together, 1 and up.
    ///   - scope: the requests that may carry the credential; defaults to those to the endpoint's own origin.
    ///   - cleartext: where a password for Basic may be sent over http.
    ///   - account: returns the account of a call, such as the identifier of a tenant or of the user who is logged in.
    ///     It runs once per call, before anything is sent. It may suspend and throw.
    ///   - credential: returns the credential of an account for a challenge, or `nil` for none. It may suspend and
    ///     throw. It runs on each hop that needs a credential.
    public convenience init(
        spaceCount: Int = 64,
        scope: CredentialScope = .endpoint,
        cleartext: CleartextPolicy = .loopbackOnly,
        account: @escaping @Sendable (_ target: any TargetType) async throws -> String,
        credential:
            @escaping @Sendable (_ account: String, _ challenge: AuthenticationChallenge) async throws ->
            PasswordCredential?
    ) {
        self.init(spaceCount, scope, cleartext, account, credential)
    }

    private init(
        _ spaceCount: Int,
        _ scope: CredentialScope,
        _ cleartext: CleartextPolicy,
        _ account: (@Sendable (any TargetType) async throws -> String)?,
        _ credential: @escaping @Sendable (String, AuthenticationChallenge) async throws -> PasswordCredential?
    ) {
        precondition(spaceCount > 0, "spaceCount is \(spaceCount), not 1 or more")
        self.scope = scope
        self.cleartext = cleartext
        self.account = account
        self.credential = credential
        spaces = Mutex(ProtectionSpaces(maximumCount: spaceCount))
    }

    /// Records the account of the call, if the plugin has several.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        guard let account, context.account(of: self) == nil else { return }
        context.setAccount(try await account(context.target), of: self, in: .authorization)
    }

    /// Sends the request, with a known credential if there is one, and retries it with a credential after a challenge.
    public func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        guard scope.contains(request, context), !request.headers.contains(.authorization) else {
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
            } else if !hasAsked, let (challenge, credential) = try await ask(challenges, request, context) {
                hasAsked = true
                answer = try makeAnswer(challenge, credential, for: request, context)
            } else {
                return response
            }
            await response.discardBody(context)
        }
    }

    // MARK: Authorization

    /// Returns the Authorization for a challenge that is known from an earlier call.
    private func answerAhead(_ request: PipelineRequest, _ context: PipelineContext) async throws -> Answer? {
        guard let space = spaces.withLock({ $0.space(of: request) }),
            let (challenge, credential) = try await ask([space.challenge], request, context)
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
            try cleartext.check(request, carrying: "a password")
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

    /// Returns the first credential that the closure has for one of the challenges.
    private func ask(
        _ challenges: [AnswerableChallenge],
        _ request: PipelineRequest,
        _ context: PipelineContext
    ) async throws -> (AnswerableChallenge, PasswordCredential)? {
        var refused: Set<String> = []
        let name = context.account(of: self)
        // Without a name, the account of the call is unknown.
        guard let name = account == nil ? "" : name else { return nil }
        for challenge in challenges where !refused.contains(challenge.realm) {
            var source = challenge.source
            source.origin = request.origin
            if let credential = try await credential(name, source) {
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

    /// Returns whether a response is a challenge that this plugin can handle.
    private func isChallenge(
        _ response: PipelineResponse,
        to answer: Answer?,
        _ context: PipelineContext
    ) -> Bool {
        response.statusCode == 401 && response.request.headers[.authorization] == answer?.value
            && scope.contains(response.request, context)
    }

    /// Returns the same challenge with a new nonce, if only the nonce was wrong.
    private static func renewal(of answer: Answer, in challenges: [AnswerableChallenge]) -> AnswerableChallenge? {
        guard answer.challenge.digest != nil else { return nil }
        return challenges.first { $0.realm == answer.challenge.realm && $0.digest?.isStale == true }
    }

    private func takeNextNonce(from response: PipelineResponse, _ answer: Answer, _ context: PipelineContext) {
        guard answer.challenge.digest != nil, let name = HTTPField.Name("Authentication-Info"),
            let field = response.headers[name], scope.contains(response.request, context),
            let nonce = ChallengeParser.parameters(of: field)?["nextnonce"], !nonce.isEmpty, nonce.utf8.count <= 4096
        else { return }
        let clientNonce = Self.makeClientNonce(context)
        spaces.withLock { $0.setNext(nonce, in: answer.key, clientNonce: clientNonce) }
    }
}

extension CredentialsPlugin: CapabilityDeclaring {
    /// The capabilities of this plugin: `PluginCapability.answersChallenges`; with several accounts also
    /// `PluginCapability.setsCredential` and `PluginCapability.identifiesCalls`.
    public var capabilities: Set<PluginCapability> {
        let known: Set<PluginCapability> =
            account == nil ? [.setsUnknownCredential] : [.setsCredential, .identifiesCalls]
        return scope.capabilities.union(known).union([.answersChallenges])
    }
}
