public import HTTPTypes

/// Decides what of a request or a response people may see: in a log, a cURL command, a recording.
///
/// It shows what is on a list and hides the rest: a header field or a query value that nobody thought of stays hidden. Names
/// are always shown, hidden values as `…`.
///
/// **Effects**: works on copies and never on a message itself; nothing is read from a stream or a file. A body is parsed
/// whole, before it is cut, and only up to `parsedBodyByteCount`; of one that is larger or malformed only the size is shown.
/// Control characters are shown as `\u{1b}`, so that no text can forge a line. Declared values are looked for in one pass, and
/// in one more for each kind of escapes that the text holds and for those within them, 7 at most.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `shownHeaderFields` | ``standardHeaderFields``; values of Location, Content-Location and Referer follow the rule for URLs |
/// | `shownQueryNames` | none: every query value is hidden |
/// | `secretNames` | ``standardSecretNames`` |
/// | `parsedBodyByteCount` | 1,048,576 (1 MiB), 0 and up |
/// | `secretValues` | none; each of 4 bytes or more |
///
/// **Secrets**: Authorization, Cookie, Set-Cookie, Proxy-Authorization and the fields that a request marks as secret are
/// hidden even when they are on the list; the user name and the password of a URL are never shown. A secret in a path, or in
/// the body under a name that no rule knows, is seen only when its value is declared: then it is hidden wherever it
/// stands, as it is, percent-encoded, as a form writes it, with JSON escapes, in base64 (also URL-safe, without padding, and
/// inside a longer text such as `user:password`), and in one of these within another. It is not seen in other encodings, in
/// compressed bytes, or in base64 that is broken into lines. Description and `dump` of a redactor show no value.
///
/// ```swift
/// LoggingPlugin(level: .debug, redactor: Redactor(shownQueryNames: ["page", "sort"], secretValues: [apiKey]))
/// ```
public struct Redactor: Sendable {
    /// Header fields whose values are shown.
    public var shownHeaderFields: Set<HTTPField.Name>

    /// Query parameters whose values are shown; compared exactly, after percent-decoding.
    public var shownQueryNames: Set<String>

    /// Words that make the name of a JSON member, a form field, a query item or a header field secret.
    ///
    /// Logs, cURL commands, errors and recordings use this one list; each cookie is secret whatever its name. Case, `-` and `_` do not
    /// count. A word of five characters or more makes every name secret that contains it (`token`: `accessToken`,
    /// `csrf_tokens`), a shorter one the names that have it as a part (`pin`: `pin`, `cardPin`, `pin[0]`, but not `shipping`). The value is
    /// hidden whatever it is, an object and an array as a whole; `null` is shown.
    ///
    /// A list with at least one word of ``standardSecretNames`` also covers names that are ambiguous, each as a whole name: `appid`,
    /// `key` and `code` in queries and forms, `access`, `refresh`, `seed`, `sig` and `ticket` in queries, forms, and in JSON if the value is a string. Header fields
    /// are secret as well if `key`, `sig` or `ticket` is a part of their name. Kinds, counts and addresses are shown although a word in their name
    /// is secret: `token_type`, `token_endpoint`, `refresh_token_expires_in`, `max_tokens` and other counts. To hide one of them, add its name.
    public var secretNames: Set<String> {
        didSet { names = SecretNames(secretNames) }
    }

    package private(set) var names: SecretNames

    /// The largest body that is parsed.
    public var parsedBodyByteCount: Int

    /// The values that are hidden wherever they occur; kept out of sight, so that only whoever declared them has them.
    package var secretValues: SecretValues? {
        get { pending?.values ?? declaredValues }
        set {
            declaredValues = newValue
            pending = nil
        }
    }

    private(set) var declaredValues: SecretValues?

    /// The values of messages, with the declared ones.
    var pending: PendingSecrets?

    package let revealsSecrets: Bool

    /// Whether the values of query items are shown unless their names are secret.
    private(set) var showsOrdinaryQueries = false

    /// Shows ``standardHeaderFields``, no query value, and of bodies what has no secret name.
    public static let standard = Redactor()

    /// Shows what ``standard`` does, and the values of query items whose names are not secret.
    ///
    /// For a developer's own machine: a query may hold personal data under a name that ``secretNames`` does not cover. An item without a
    /// name, a value that holds a secret name, and the fragment stay hidden.
    public static let development: Redactor = {
        var redactor = Redactor()
        redactor.showsOrdinaryQueries = true
        return redactor
    }()

    /// Hides nothing but user names and passwords in URLs.
    ///
    /// Unsafe: whoever reads the output can act as the user.
    public static let revealingSecrets = Redactor(
        shownHeaderFields: [],
        shownQueryNames: [],
        secretNames: [],
        parsedBodyByteCount: 0,
        revealsSecrets: true
    )

    /// Makes a redactor.
    ///
    /// - Parameters:
    ///   - shownHeaderFields: header fields whose values are shown.
    ///   - shownQueryNames: query parameters whose values are shown.
    ///   - secretNames: words that make a name secret, ``secretNames``.
    ///   - parsedBodyByteCount: the largest body that is parsed, in bytes.
    ///   - secretValues: values that are hidden wherever they stand, of 4 bytes or more each.
    public init(
        shownHeaderFields: Set<HTTPField.Name> = standardHeaderFields,
        shownQueryNames: Set<String> = [],
        secretNames: Set<String> = standardSecretNames,
        parsedBodyByteCount: Int = 1 << 20,
        secretValues: [String] = []
    ) {
        precondition(parsedBodyByteCount >= 0, "parsedBodyByteCount is \(parsedBodyByteCount), not 0 or more")
        self.init(
            shownHeaderFields: shownHeaderFields,
            shownQueryNames: shownQueryNames,
            secretNames: secretNames,
            parsedBodyByteCount: parsedBodyByteCount,
            revealsSecrets: false
        )
        self = adding(secretValues: secretValues)
    }

    private init(
        shownHeaderFields: Set<HTTPField.Name>,
        shownQueryNames: Set<String>,
        secretNames: Set<String>,
        parsedBodyByteCount: Int,
        revealsSecrets: Bool
    ) {
        self.shownHeaderFields = shownHeaderFields
        self.shownQueryNames = shownQueryNames
        self.secretNames = secretNames
        names = SecretNames(secretNames)
        self.parsedBodyByteCount = parsedBodyByteCount
        self.revealsSecrets = revealsSecrets
    }
}

extension Redactor: SafelyDescribed {
    /// How much is shown and how much is hidden, in numbers.
    public var description: String {
        let count = secretValues?.values.count ?? 0
        let values = count == 1 ? "1 secret value" : "\(count) secret values"
        return revealsSecrets
            ? "revealing secrets, \(values)"
            : "\(shownHeaderFields.count) header fields and \(shownQueryNames.count) query names shown, "
                + "\(secretNames.count) secret names, \(values)"
    }
}

extension Redactor {
    /// What is written in place of a hidden value.
    static let placeholder = SecretPlaceholder.shown.text

    /// Fields that describe a message and identify nobody.
    public static let standardHeaderFields: Set<HTTPField.Name> = Set(
        [
            .accept, .acceptEncoding, .acceptLanguage, .acceptRanges, .age, .allow, .cacheControl, .connection,
            .contentEncoding, .contentLanguage, .contentLength, .contentRange, .contentType, .date, .eTag, .expect,
            .expires, .ifMatch, .ifModifiedSince, .ifNoneMatch, .ifRange, .ifUnmodifiedSince, .lastModified,
            .origin,
            .range, .retryAfter, .server, .strictTransportSecurity, .te, .traceparent, .trailer, .transferEncoding,
            .upgrade, .userAgent, .vary, .via, .xContentTypeOptions,
        ]
            + [
                "Accept-Charset", "Deprecation", "Host", "Idempotency-Key", "Keep-Alive", "Pragma", "RateLimit",
                "RateLimit-Limit", "RateLimit-Policy", "RateLimit-Remaining", "RateLimit-Reset", "Sunset",
                "X-Correlation-Id",
                "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "X-Request-Id",
            ].compactMap { HTTPField.Name($0) }
    )

    /// Words in the names of passwords, tokens, keys, and of what identifies a person or a card.
    ///
    /// Most of them, as a name may be written: `access_key`, `api_key`, `assertion`, `auth`, `authorization`, `bearer`, `card`, `cookie`,
    /// `credential`, `csrf`, `cvv`, `device_code`, `hmac`, `iban`, `jwt`, `mfa`, `otp`, `pan`, `pass`, `passcode`, `passphrase`, `passwd`,
    /// `password`, `pin`, `private_key`, `pwd`, `secret`, `session`, `sid`, `signature`, `signing_key`, `ssn`, `subscription_key`, `token`,
    /// `totp`, `xsrf`.
    ///
    /// ``secretNames`` describes how they match, and lists the names that are secret in some places only.
    public static let standardSecretNames: Set<String> = [
        "access_key", "account_key", "api_key", "assertion", "auth", "authorization", "backup_code", "bearer", "card",
        "card_number", "code_verifier", "connection_string", "cookie", "credential", "csc", "csrf", "cvc", "cvc2",
        "cvv", "cvv2", "device_code", "encryption_key", "functions_key", "hmac", "iban", "jwt", "license_key",
        "master_key", "mfa", "mnemonic", "oauth_verifier", "otp", "pan", "pass", "passcode", "passphrase", "passwd",
        "password", "pin", "private_key", "psw", "pswd", "pwd", "recovery_code", "recovery_phrase", "saml_request",
        "saml_response", "secret", "seed_phrase", "sessid", "session", "session_id", "shared_key", "sid", "signature",
        "signing_key", "ssn", "subscription_key", "token", "totp", "user_code", "verification_code", "xsrf",
    ]

    static let urlFields: Set<HTTPField.Name> = [.location, .contentLocation, .referer]
    static let alwaysSecretFields: Set<HTTPField.Name> = [
        .authorization, .cookie, .setCookie, .proxyAuthorization,
    ]
}
