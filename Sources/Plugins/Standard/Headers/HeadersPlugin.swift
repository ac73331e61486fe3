import HTTPTypes
public import PipelineCore

/// A plugin that adds default header fields to every request.
///
/// ```swift
/// HeadersPlugin(["X-App": "shop/1.0", "Accept-Language": "de"])
/// HeadersPlugin([.userAgent: "shop/1.0"] as HTTPFields, overrides: true)
/// HeadersPlugin(["X-Tenant": tenant], secret: ["X-Tenant"])
/// HeadersPlugin { target in target is Weather ? ["X-API-Key": key] : nil }
/// HeadersPlugin { _ in ["Accept-Language": await settings.language] }
/// ```
///
/// An `Encodable` value contributes one field for each member, named by its coding key:
///
/// ```swift
/// struct Device: Encodable {
///     enum CodingKeys: String, CodingKey { case id = "X-Device", region = "X-Region" }
///     var id: UUID
///     var region: String?
/// }
/// HeadersPlugin(Device(id: id))
/// ```
///
/// | member | field |
/// |---|---|
/// | an optional without a value, an empty array | none |
/// | text, a number, a URL, a UUID, `Data` | its text; for `Data`, its base64 encoding |
/// | `Bool` | `true`, `false` |
/// | `Date` | by the value's own `CustomDateEncodingStrategy`, otherwise by `dates` |
/// | an array, a set | one field with the elements joined by `, ` |
///
/// **Effects**
///
/// - Adds each name with all its values if the request has no field of that name. Fields that a target, a call or an
///   outer plugin has set stay; with `overrides`, they are replaced.
/// - Does not touch requests that an outer plugin has moved to an origin other than the endpoint's. The closure does
///   not run for them.
/// - If names in a dictionary differ only in case, sends the name that sorts last.
/// - Makes fields given as a value once, and keeps nothing between calls.
/// - Calls for which the closure returns different fields share no response, in memory or from a cache, unless the
///   fields only describe the message, such as Accept-Language; see `PipelineContext.addIdentity(_:of:)`. A field that
///   differs each time therefore keeps a cache from being used.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `overrides` | `false`: the fields of the request stay |
/// | `secret` | no names; see Secrets |
/// | `scope` | `CredentialScope.endpoint` |
/// | `cleartext` | `.loopbackOnly`: no secret field is sent over http, except to a loopback address |
/// | `dates` | `.iso8601` |
///
/// **Position**
///
/// - Inside a plugin that retries, so that a closure runs for each attempt. Outside it, the closure runs once.
/// - If a stack has two, the outer one's field is sent; if both override, the inner one's.
///
/// **Errors**: none shows a value.
///
/// - `invalidRequest.headerName`, `invalidRequest.headerValue`: a header field cannot hold the name or the value.
/// - `encoding`: a value has no keys, a member has members itself, or an element of a member with several elements has
///   a comma. The error names the key of the member.
/// - `invalidRequest.credential`: `cleartext` does not allow a secret field for the request.
/// - An error that the closure throws becomes the underlying error of a failure with code `plugin`.
///
/// **Secrets**: a secret field is marked as such, so that it is dropped when a redirect leaves the origin and never
/// appears in a log. A field is secret if `secret` contains its name or if `Redactor.soundsSecret(_:)` returns `true`
/// for it, as for Authorization, Cookie, X-Api-Key and X-Auth-Token.
///
/// Source: RFC 9110 §5, https://www.rfc-editor.org/rfc/rfc9110.html#section-5
public struct HeadersPlugin: Stage.Prepare {
    private let overrides: Bool
    private let scope: CredentialScope
    private let cleartext: CleartextPolicy
    private let fields: @Sendable (any TargetType) async throws -> [DefaultField]
    /// Whether the fields may differ from call to call.
    private let areDynamic: Bool

    /// Creates a plugin whose header fields are made once, from a value.
    ///
    /// - Parameters:
    ///   - fields: a dictionary of names and values, `HTTPFields` (which may repeat a name), or any other value with
    ///     keys.
    ///   - dates: how dates in a value with keys are written.
    ///   - overrides: whether the fields replace those of the request.
    ///   - secret: the names of fields that carry a secret, case-insensitive.
    ///   - scope: the requests that get the fields; defaults to those to the endpoint's own origin.
    ///   - cleartext: where secret fields may be sent over http.
    public init(
        _ fields: some Encodable,
        dates: DateCodingStrategy.TextEncoding = .iso8601,
        overrides: Bool = false,
        secret: Set<String> = [],
        scope: CredentialScope = .endpoint,
        cleartext: CleartextPolicy = .loopbackOnly
    ) {
        let made = Result { try DefaultField.all(encoding: fields, dates: dates, secret: secret) }
        self.init(overrides, scope, cleartext, areDynamic: false) { _ in try made.get() }
    }

    /// Creates a plugin whose header fields come from a closure that runs for each request.
    ///
    /// - Parameters:
    ///   - dates: how dates in a value with keys are written.
    ///   - overrides: whether the fields replace those of the request.
    ///   - secret: the names of fields that carry a secret, case-insensitive.
    ///   - scope: the requests that get the fields; defaults to those to the endpoint's own origin.
    ///   - cleartext: where secret fields may be sent over http.
    ///   - fields: returns the fields for a target in any form that the other initializer takes, or `nil` for none. It
    ///     may suspend and throw.
    public init(
        dates: DateCodingStrategy.TextEncoding = .iso8601,
        overrides: Bool = false,
        secret: Set<String> = [],
        scope: CredentialScope = .endpoint,
        cleartext: CleartextPolicy = .loopbackOnly,
        fields: @escaping @Sendable (any TargetType) async throws -> (any Encodable)?
    ) {
        self.init(overrides, scope, cleartext, areDynamic: true) { target in
            guard let value = try await fields(target) else { return [] }
            return try DefaultField.all(encoding: value, dates: dates, secret: secret)
        }
    }

    /// Creates a plugin whose header fields come from a closure that runs for each request and returns a dictionary.
    ///
    /// ```swift
    /// HeadersPlugin { _ in
    ///     guard let tenant = await session.tenant else { return [:] }
    ///     return ["X-Tenant": tenant]
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - overrides: whether the fields replace those of the request.
    ///   - secret: the names of fields that carry a secret, case-insensitive.
    ///   - scope: the requests that get the fields; defaults to those to the endpoint's own origin.
    ///   - cleartext: where secret fields may be sent over http.
    ///   - fields: returns the names and values for a target; `nil` and an empty dictionary for none. It may suspend
    ///     and throw.
    public init(
        overrides: Bool = false,
        secret: Set<String> = [],
        scope: CredentialScope = .endpoint,
        cleartext: CleartextPolicy = .loopbackOnly,
        fields: @escaping @Sendable (any TargetType) async throws -> [String: String]?
    ) {
        self.init(overrides, scope, cleartext, areDynamic: true) { target in
            try DefaultField.all(in: try await fields(target) ?? [:], secret: secret)
        }
    }

    private init(
        _ overrides: Bool,
        _ scope: CredentialScope,
        _ cleartext: CleartextPolicy,
        areDynamic: Bool,
        _ fields: @escaping @Sendable (any TargetType) async throws -> [DefaultField]
    ) {
        self.overrides = overrides
        self.scope = scope
        self.cleartext = cleartext
        self.areDynamic = areDynamic
        self.fields = fields
    }

    /// Adds the header fields to the request, or replaces them if `overrides` is set.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        guard scope.contains(request, context) else { return }
        for field in try await fields(context.target) where overrides || !request.headers.contains(field.name) {
            if field.isSecret {
                let what = "the header field \(field.name)"
                try cleartext.check(request, carrying: what)
                request.secretFields.insert(field.name)
            }
            request.headers[fields: field.name] = field.lines
            guard areDynamic, !field.isSecret, AccountFields.mayNameAccount(field.name) else { continue }
            let values = field.lines.map(\.value.debugDescription).joined(separator: ", ")
            context.addIdentity("HeadersPlugin \(field.name.canonicalName): \(values)")
        }
    }
}

extension HeadersPlugin: CapabilityDeclaring {
    /// The capability of this plugin: `PluginCapability.setsFields`.
    public var capabilities: Set<PluginCapability> { scope.capabilities.union([.setsFields]) }
}
