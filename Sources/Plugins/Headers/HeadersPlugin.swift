import HTTPTypes
public import Pipeline

/// A plugin that adds default header fields to every request.
///
/// ```swift
/// HeadersPlugin(["X-App": "shop/1.0", "Accept-Language": "de"])
/// HeadersPlugin([.userAgent: "shop/1.0"] as HTTPFields, overrides: true)
/// HeadersPlugin(["X-Tenant": tenant], secret: ["X-Tenant"])
/// HeadersPlugin { target in target is Weather ? ["X-API-Key": key] : nil }
/// HeadersPlugin { _ in
///     struct Headers: Encodable { var locale: String }
///     return Headers(locale: settings.locale)
/// }
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
/// | text, a number, a URL, a UUID, `Data` | its text, of `Data` the base64 |
/// | `Bool` | `true`, `false` |
/// | `Date` | by the value's own `CustomDateEncodingStrategy`, else by `dates` |
/// | an array, a set | one field, the elements joined by `, ` |
///
/// **Position**: inside a plugin that retries, so that a closure runs for each attempt; outside it, it runs once. Of two in one stack, the
/// outer one's field is sent; of two that override, the inner one's.
///
/// **Effects**: adds each name with all its values if the request has no field of that name: fields that a target, a call or an outer
/// plugin has set stay. With `overrides` they are replaced. Requests that an outer plugin has led to another origin than the endpoint's
/// are untouched, and the closure does not run for them. Of names in a dictionary that differ only in case, the last in the order of their
/// characters is sent. Fields given as a value are made once. Nothing is kept between calls.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `overrides` | `false`: the fields of the request stay |
/// | `secret` | none by name; see Secrets |
/// | `cleartext` | `.loopbackOnly`: no secret field is sent over http, except to a loopback address |
/// | `dates` | `.iso8601` |
///
/// **Errors**, none of which shows a value: `invalidRequest.headerName` and `invalidRequest.headerValue` for what a field cannot hold;
/// `encoding` for a value without keys, and, with the key, for a member that has members itself and for one of several elements that has
/// a comma; `invalidRequest.credential` for a secret field of a request that `cleartext` does not allow; what the closure throws, as
/// the underlying error of code `plugin`.
///
/// **Secrets**: a secret field is marked as such, so that it is dropped when a redirect leaves the origin and is shown in no log. A
/// field is secret if `secret` has its name, or if `Redactor.soundsSecret(_:)` is true of it: Authorization, Cookie, X-Api-Key and
/// X-Auth-Token, for example.
///
/// Source: RFC 9110 §5, https://www.rfc-editor.org/rfc/rfc9110.html#section-5
public struct HeadersPlugin: Stage.Prepare {
    private let overrides: Bool
    private let cleartext: CleartextPolicy
    private let fields: @Sendable (any TargetType) async throws -> [DefaultField]

    /// Creates a plugin whose header fields are made once, from a value.
    ///
    /// - Parameters:
    ///   - fields: a dictionary of names and values, `HTTPFields`, of which several may have one name, or any other value with keys.
    ///   - dates: how the dates of a value with keys are written.
    ///   - overrides: whether the fields replace those of the request.
    ///   - secret: names of fields that carry a secret, case-insensitive.
    ///   - cleartext: where secret fields may be sent over http.
    public init(
        _ fields: some Encodable,
        dates: DateTextEncoding = .iso8601,
        overrides: Bool = false,
        secret: Set<String> = [],
        cleartext: CleartextPolicy = .loopbackOnly
    ) {
        let made = Result { try DefaultField.all(encoding: fields, dates: dates, secret: secret) }
        self.init(overrides, cleartext) { _ in try made.get() }
    }

    /// Creates a plugin whose header fields come from a closure that runs for each request.
    ///
    /// - Parameters:
    ///   - dates: how the dates of a value with keys are written.
    ///   - overrides: whether the fields replace those of the request.
    ///   - secret: names of fields that carry a secret, case-insensitive.
    ///   - cleartext: where secret fields may be sent over http.
    ///   - fields: returns what the other initializer takes, for a target; `nil` for no fields. It may suspend and throw.
    public init(
        dates: DateTextEncoding = .iso8601,
        overrides: Bool = false,
        secret: Set<String> = [],
        cleartext: CleartextPolicy = .loopbackOnly,
        fields: @escaping @Sendable (any TargetType) async throws -> (any Encodable)?
    ) {
        self.init(overrides, cleartext) { target in
            guard let value = try await fields(target) else { return [] }
            return try DefaultField.all(encoding: value, dates: dates, secret: secret)
        }
    }

    private init(
        _ overrides: Bool,
        _ cleartext: CleartextPolicy,
        _ fields: @escaping @Sendable (any TargetType) async throws -> [DefaultField]
    ) {
        self.overrides = overrides
        self.cleartext = cleartext
        self.fields = fields
    }

    /// Adds the header fields.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        guard context.endpoint.hasOrigin(of: request) else { return }
        for field in try await fields(context.target) where overrides || !request.headers.contains(field.name) {
            if field.isSecret {
                let what = "the header field \(field.name)"
                try CredentialScope.check(request, cleartext, what)
                request.secretFields.insert(field.name)
            }
            request.headers[fields: field.name] = field.lines
        }
    }
}

extension HeadersPlugin: CapabilityDeclaring {
    /// `PluginCapability.setsFields`.
    public var capabilities: Set<PluginCapability> { [.setsFields] }
}
