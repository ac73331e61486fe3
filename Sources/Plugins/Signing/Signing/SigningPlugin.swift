import Foundation
import HTTPTypes
public import PipelineCore

/// A plugin that signs each request as it is sent.
///
/// ```swift
/// SigningPlugin { request, context in
///     let time = String(Int(context.clock.date.timeIntervalSince1970))
///     try request.setHeader(time, for: "X-Time")
///     try request.setHeader(hmac("\(request.method) \(request.head.path ?? "/") \(time)"), for: "X-Signature")
/// }
/// SigningPlugin(AWSSigner(region: "eu-central-1", service: "s3") { _ in try await vault.credentials() })
/// SigningPlugin(MessageSigner(components: [.method, .targetURI], key: key, keyID: "client-1"))
/// ```
///
/// **Effects**
///
/// - Signs every exchange anew: each attempt of a retry, each hop of a redirect, each copy of a hedged request, and a
///   second request after a challenge. The signature covers the URL of that request, and the current time.
/// - Signs only requests to the places of `scope`. Other requests are sent unsigned.
/// - Marks every header field that the signer adds or changes, and every query item that it adds, as secret. Such a
///   field is dropped when a redirect leaves the origin.
/// - Reads the body only if the scheme covers it.
/// - Calls of different accounts share no response; see `PipelineContext.addIdentity(_:of:)`. Without `account`, a
///   signer with one key has one account, which is a new one for each plugin and each run of the program. Responses to
///   requests that another signer or a closure has signed are then neither shared nor stored.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `scope` | `CredentialScope.endpoint` |
/// | `cleartext` | `.loopbackOnly`: a signature can be replayed, so none is sent over http, except to a loopback address |
/// | `account` | one account for a signer with ``RequestSigner/hasOneKey``, otherwise unknown |
///
/// **Position**
///
/// - The last exchange plugin. What an exchange plugin inside it changes is not signed.
/// - Exchange plugins are always inside retries, caches in the call stages and plugins that change the request there,
///   such as `GzipPlugin`.
/// - With `account`, outside a plugin that shares responses.
///
/// **Errors**
///
/// - `invalidRequest.credential`: `cleartext` does not allow the request.
/// - An error of the signer or of `account`: nothing is sent. It becomes the underlying error of a failure with code
///   `plugin`, unless it is a `PipelineError`.
///
/// **Secrets**: no error or description shows a key or a signature.
public struct SigningPlugin: Stage.Prepare, Stage.Exchange, SafelyDescribed {
    private let signer: any RequestSigner
    private let scope: CredentialScope
    private let cleartext: CleartextPolicy
    private let account: (@Sendable (any TargetType) async throws -> String)?
    /// Differs for each plugin and each run, so that no other key gets a response of this one.
    private let ownAccount = UInt64.random(in: .min ... .max)

    /// Creates a plugin that signs with a signer.
    ///
    /// - Parameters:
    ///   - signer: the scheme.
    ///   - scope: the requests to sign.
    ///   - cleartext: where a signature may be sent over http.
    ///   - account: returns the account of a target, such as a tenant, or the same text for all if there is one. It
    ///     runs once per call, before anything is sent.
    public init(
        _ signer: some RequestSigner,
        scope: CredentialScope = .endpoint,
        cleartext: CleartextPolicy = .loopbackOnly,
        account: (@Sendable (any TargetType) async throws -> String)? = nil
    ) {
        self.signer = signer
        self.scope = scope
        self.cleartext = cleartext
        self.account = account
    }

    /// Creates a plugin that signs with a closure.
    ///
    /// - Parameters:
    ///   - scope: the requests to sign.
    ///   - cleartext: where a signature may be sent over http.
    ///   - account: returns the account of a target, or the same text for all if there is one.
    ///   - sign: adds a signature to a request; see ``RequestSigner/sign(_:context:)``.
    public init(
        scope: CredentialScope = .endpoint,
        cleartext: CleartextPolicy = .loopbackOnly,
        account: (@Sendable (any TargetType) async throws -> String)? = nil,
        sign: @escaping @Sendable (_ request: inout PipelineRequest, _ context: PipelineContext) async throws -> Void
    ) {
        self.init(ClosureSigner(body: sign), scope: scope, cleartext: cleartext, account: account)
    }

    /// The name of the plugin.
    public var description: String { name }

    /// Records the account of the call.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        guard context[SigningIdentities.self][ownAccount] == nil else { return }
        let account = try await account?(context.target) ?? "\(ownAccount)"
        let identity = context.update(SigningIdentities.self) { [name, ownAccount] identities in
            // Of passes that run at the same time, all use the account that was known first.
            let identity = identities[ownAccount] ?? "\(name) \(account)"
            identities[ownAccount] = identity
            return identity
        }
        context.addIdentity(identity)
    }

    /// Signs the request and sends it.
    public func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        guard scope.contains(request, context) else { return try await send(request) }
        try cleartext.check(request, carrying: "a signature")
        var signed = request
        try await signer.sign(&signed, context: context)
        let names = Self.markChanges(of: &signed, since: request)
        if knowsAccount, let identity = context[SigningIdentities.self][ownAccount] {
            // A plugin outside may then share or store the response for this account.
            for name in names { context.addIdentity(identity, of: name) }
        }
        return try await send(signed)
    }

    /// Marks the fields that differ from those of the original and the new query items as secret, and returns the names
    /// of the fields.
    private static func markChanges(
        of signed: inout PipelineRequest,
        since original: PipelineRequest
    ) -> [HTTPField.Name] {
        var names: [HTTPField.Name] = []
        for field in signed.headers where !names.contains(field.name) {
            guard signed.headers[fields: field.name] != original.headers[fields: field.name] else { continue }
            names.append(field.name)
        }
        signed.secretFields.formUnion(names)
        if signed.head.path != original.head.path {
            let names = [signed, original].map { Set(($0.query ?? "").split(separator: "&").map(Self.decodedName)) }
            signed.secretQueryNames.formUnion(names[0].subtracting(names[1]))
        }
        return names
    }

    /// Returns the decoded name of an item of a query.
    private static func decodedName(_ item: Substring) -> String {
        let name = String(item.prefix { $0 != "=" }.map { $0 == "+" ? " " : $0 })
        return name.removingPercentEncoding ?? name
    }
}

extension SigningPlugin: CapabilityDeclaring {
    /// Whether responses are attributed to an account.
    private var knowsAccount: Bool { account != nil || signer.hasOneKey }

    /// The capabilities of this plugin: `PluginCapability.signs` and `PluginCapability.identifiesCalls`.
    public var capabilities: Set<PluginCapability> {
        scope.capabilities.union([.signs, .identifiesCalls]).union(knowsAccount ? [] : [.setsUnknownCredential])
    }
}

/// The identity of the call for each plugin.
private enum SigningIdentities: PipelineContext.Key {
    static let defaultValue: [UInt64: String] = [:]
    static let isInherited = true
}

private struct ClosureSigner: RequestSigner {
    let body: @Sendable (inout PipelineRequest, PipelineContext) async throws -> Void

    func sign(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        try await body(&request, context)
    }
}
