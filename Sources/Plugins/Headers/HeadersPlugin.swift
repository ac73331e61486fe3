public import HTTPTypes
public import Pipeline

/// Sends the same header fields with every request.
///
/// ```swift
/// HeadersPlugin(["X-App": "shop/1.0", "Accept-Language": "de"])
/// HeadersPlugin([.userAgent: "shop/1.0"], overrides: true)
/// HeadersPlugin(["X-Tenant": tenant], secret: ["X-Tenant"])
/// HeadersPlugin { target in ["X-Trace": try await trace.id(for: target)] }
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
/// HeadersPlugin(encoding: Device(id: id))
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
/// **Position**: inside a plugin that sends again, so that a closure is asked for each attempt; outside it once. Of two in one stack
/// the outer one's field is sent; of two that override, the inner one's.
///
/// **Effects**: adds the fields, each name with all its values, where the request has none of that name: what a target, a call or a
/// plugin outside has set stays; with `overrides` it is replaced. Requests that a plugin outside has led to another origin than
/// the endpoint's are untouched, and the closure is not asked for them. Of names in a dictionary that differ in case only, the later in
/// the order of their characters is sent. What is given as a value is made into fields once; nothing is kept between calls.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `overrides` | `false`: what the request has stays |
/// | `secret` | none by name; see Secrets |
/// | `allowsCleartext` | `false`: no secret field leaves over http, except to the machine itself |
/// | `dates` | `.iso8601` |
///
/// **Errors**, none of which names a value: `invalidRequest.headerName` and `invalidRequest.headerValue` for what may not stand
/// in a field; `encoding` for a value without keys, and with the key for a member that has members itself and for an element of
/// several that has a comma; `invalidRequest.credential` for a secret field that would leave over http to another machine; what the
/// closure throws, as the underlying error of code `plugin`.
///
/// **Secrets**: a field is marked as secret, so that it is dropped when a redirect leaves the origin and shown in no log, when `secret` has
/// its name, when it is Authorization, Cookie or Proxy-Authorization, and when its name matches `Redactor.standardSecretNames` as
/// `Redactor.secretNames` describes or has `key`, `sig` or `ticket` as a part: X-Api-Key and X-Auth-Token, for example. Those in
/// `Redactor.standardHeaderFields` are not.
///
/// Source: RFC 9110 §5, https://www.rfc-editor.org/rfc/rfc9110.html#section-5
public struct HeadersPlugin: Stage.Prepare {
    private let overrides: Bool
    private let allowsCleartext: Bool
    private let fields: @Sendable (any TargetType) async throws -> [DefaultField]

    /// Makes a plugin with the fields of a dictionary.
    ///
    /// - Parameters:
    ///   - fields: names and values.
    ///   - overrides: whether they replace what the request has.
    ///   - secret: names of fields that carry a secret; case does not count.
    ///   - allowsCleartext: whether secret fields may leave over http; always allowed to the machine itself.
    public init(
        _ fields: [String: String],
        overrides: Bool = false,
        secret: Set<String> = [],
        allowsCleartext: Bool = false
    ) {
        self.init(overrides, allowsCleartext, Result { try DefaultField.all(in: fields, secret: secret) })
    }

    /// Makes a plugin with fields, of which several may have one name.
    ///
    /// - Parameters:
    ///   - fields: names and values.
    ///   - overrides: whether they replace what the request has.
    ///   - secret: names of fields that carry a secret; case does not count.
    ///   - allowsCleartext: whether secret fields may leave over http; always allowed to the machine itself.
    public init(
        _ fields: HTTPFields,
        overrides: Bool = false,
        secret: Set<String> = [],
        allowsCleartext: Bool = false
    ) {
        self.init(overrides, allowsCleartext, .success(DefaultField.all(in: fields, secret: secret)))
    }

    /// Makes a plugin with the members of a value.
    ///
    /// - Parameters:
    ///   - value: a value with keys.
    ///   - dates: how dates are written.
    ///   - overrides: whether the fields replace what the request has.
    ///   - secret: names of fields that carry a secret; case does not count.
    ///   - allowsCleartext: whether secret fields may leave over http; always allowed to the machine itself.
    public init(
        encoding value: some Encodable,
        dates: DateTextEncoding = .iso8601,
        overrides: Bool = false,
        secret: Set<String> = [],
        allowsCleartext: Bool = false
    ) {
        let fields = Result { try DefaultField.all(encoding: value, dates: dates, secret: secret) }
        self.init(overrides, allowsCleartext, fields)
    }

    /// Creates a plugin whose header fields come from a closure that runs for each request.
    ///
    /// - Parameters:
    ///   - dates: how the dates of an `Encodable` value are written.
    ///   - overrides: whether the fields replace those of the request.
    ///   - secret: names of fields that carry a secret, case-insensitive.
    ///   - allowsCleartext: whether secret fields may be sent over http; they always may to a loopback address.
    ///   - fields: returns a dictionary of names and values, or any other value with keys, for a target. It may suspend and throw.
    public init(
        dates: DateTextEncoding = .iso8601,
        overrides: Bool = false,
        secret: Set<String> = [],
        allowsCleartext: Bool = false,
        fields: @escaping @Sendable (any TargetType) async throws -> any Encodable
    ) {
        self.init(overrides, allowsCleartext) { target in
            try DefaultField.all(encoding: try await fields(target), dates: dates, secret: secret)
        }
    }

    private init(_ overrides: Bool, _ allowsCleartext: Bool, _ fields: Result<[DefaultField], any Error>) {
        self.init(overrides, allowsCleartext) { _ in try fields.get() }
    }

    private init(
        _ overrides: Bool,
        _ allowsCleartext: Bool,
        _ fields: @escaping @Sendable (any TargetType) async throws -> [DefaultField]
    ) {
        self.overrides = overrides
        self.allowsCleartext = allowsCleartext
        self.fields = fields
    }

    /// Adds the fields.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        guard CredentialScope.isOwnOrigin(request, context) else { return }
        for field in try await fields(context.target) where overrides || !request.headers.contains(field.name) {
            if field.isSecret {
                let what = "the header field \(field.name)"
                try CredentialScope.requireConfidential(request, allowsCleartext: allowsCleartext, what)
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
