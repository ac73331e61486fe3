public import HTTPTypes

/// A redactor that decides which parts of a request or a response people may see: in a log, a cURL command, a
/// recording.
///
/// It shows what is on a list and hides everything else, so a header field or a query value that is not on a list stays
/// hidden. Names are always shown; hidden values appear as `…`.
///
/// **Effects**: works on copies and never changes a message; reads no stream and no file. A body is parsed as a whole
/// before it is cut, and only up to `parsedBodyByteCount`. Of a larger or malformed body, only the size is shown.
/// Control characters are escaped, for example as `\u{1b}`, so that no text can forge a line. Declared values are
/// searched for in one pass, plus one pass for each kind of escapes in the text and for escapes nested in those, at
/// most 7.
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
/// **Secrets**: Authorization, Cookie, Set-Cookie, Proxy-Authorization and the fields that a request marks as secret
/// are hidden even if they are on the list. The user name and the password of a URL are never shown.
///
/// A secret in a path, or in a body under a name that no rule covers, is detected only if its value is declared. It is
/// then hidden wherever it occurs: as it is, percent-encoded, form-encoded, with JSON escapes, in base64 (also
/// URL-safe, without padding, and inside a longer text such as `user:password`), and in one of these within another. It
/// is not detected in other encodings, in compressed bytes, or in base64 that is broken into lines. The description and
/// the `dump` of a redactor show no value.
///
/// ```swift
/// LoggingPlugin(level: .debug, redactor: Redactor(shownQueryNames: ["page", "sort"], secretValues: [apiKey]))
/// ```
public struct Redactor: Sendable {
    /// The header fields whose values are shown.
    public var shownHeaderFields: Set<HTTPField.Name>

    /// The query parameters whose values are shown; compared exactly, after percent-decoding.
    public var shownQueryNames: Set<String>

    /// Words that make the name of a JSON member, a form field, a query item or a header field secret.
    ///
    /// Logs, cURL commands, errors and recordings use this one list; every cookie is secret whatever its name. Case,
    /// `-` and `_` are ignored. A word of five or more characters makes every name secret that contains it (`token`:
    /// `accessToken`, `csrf_tokens`). A shorter word must be a separate part of the name (`pin`: `pin`, `cardPin`,
    /// `pin[0]`, but not `shipping`). The value is hidden whatever its type, objects and arrays as a whole; `null` is
    /// shown.
    ///
    /// A list with at least one word of ``standardSecretNames`` also covers ambiguous names, which must match as a
    /// whole:
    ///
    /// - `appid`, `key` and `code` in queries and forms,
    /// - `access`, `refresh`, `seed`, `sig` and `ticket` in queries, in forms, and in JSON if the value is a string.
    ///
    /// A header field is also secret if `key`, `sig` or `ticket` is a part of its name. Types, counts and addresses are
    /// shown although a word in their name is secret: `token_type`, `token_endpoint`, `refresh_token_expires_in`,
    /// `max_tokens` and other counts. To hide one of them, add its name.
    public var secretNames: Set<String> {
        didSet { names = SecretNames(secretNames) }
    }

    package private(set) var names: SecretNames

    /// The size of the largest body that is parsed, in bytes.
    public var parsedBodyByteCount: Int

    /// The values that are hidden wherever they occur; not public, so that only the code that declared them has access.
    package var secretValues: SecretValues? {
        get { pending?.values ?? declaredValues }
        set {
            declaredValues = newValue
            pending = nil
        }
    }

    private(set) var declaredValues: SecretValues?

    /// The declared values together with the secret values of messages.
    var pending: PendingSecrets?

    package private(set) var revealsSecrets = false

    /// The names, in lower case, and the values that are not secret although they are in a secret place.
    var plainNames: Set<String> = []
    var plainValues: Set<String> = []

    /// The query items that a request marks as secret; they are hidden even if `shownQueryNames` contains them.
    private(set) var markedQueryNames: Set<String> = []

    /// Whether the values of query items are shown unless their names are secret.
    private(set) var showsOrdinaryQueries = false

    /// A redactor that shows ``standardHeaderFields``, no query values, and those parts of bodies whose names are not
    /// secret.
    public static let standard = Redactor()

    /// A redactor like ``standard`` that also shows the values of query items whose names are not secret.
    ///
    /// For a developer's own machine: a query may contain personal data under a name that ``secretNames`` does not
    /// cover. An item without a name, a value that contains a secret name, and the fragment stay hidden.
    public static let development: Redactor = {
        var redactor = Redactor()
        redactor.showsOrdinaryQueries = true
        return redactor
    }()

    /// A redactor that hides only user names and passwords in URLs.
    ///
    /// Unsafe: anyone who reads the output can act as the user.
    public static let revealingSecrets: Redactor = {
        var redactor = Redactor(shownHeaderFields: [], secretNames: [], parsedBodyByteCount: 0)
        redactor.revealsSecrets = true
        return redactor
    }()

    /// Makes a redactor.
    ///
    /// - Parameters:
    ///   - shownHeaderFields: header fields whose values are shown.
    ///   - shownQueryNames: query parameters whose values are shown.
    ///   - secretNames: words that make a name secret, see ``secretNames``.
    ///   - parsedBodyByteCount: the size of the largest body that is parsed, in bytes.
    ///   - secretValues: values that are hidden wherever they occur, of 4 bytes or more each.
    public init(
        shownHeaderFields: Set<HTTPField.Name> = standardHeaderFields,
        shownQueryNames: Set<String> = [],
        secretNames: Set<String> = standardSecretNames,
        parsedBodyByteCount: Int = 1 << 20,
        secretValues: [String] = []
    ) {
        precondition(parsedBodyByteCount >= 0, "parsedBodyByteCount is \(parsedBodyByteCount), not 0 or more")
        self.shownHeaderFields = shownHeaderFields
        self.shownQueryNames = shownQueryNames
        self.secretNames = secretNames
        names = SecretNames(secretNames)
        self.parsedBodyByteCount = parsedBodyByteCount
        self = adding(secretValues: secretValues)
    }

    /// Returns this redactor with more query items hidden.
    package func adding(secretQueryNames names: Set<String>) -> Redactor {
        if names.isEmpty { return self }
        var copy = self
        copy.markedQueryNames.formUnion(names)
        return copy
    }
}

extension Redactor: SafelyDescribed {
    /// A summary of what is shown and hidden, in numbers.
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
    /// The text that replaces a hidden value.
    static let placeholder = SecretPlaceholder.shown.text

    /// Fields that describe a message and do not identify a person.
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

    /// Words in the names of passwords, tokens, keys, and data that identifies a person or a card.
    ///
    /// Most of them, as they may appear in a name: `access_key`, `api_key`, `assertion`, `auth`, `authorization`,
    /// `bearer`, `card`, `cookie`, `credential`, `csrf`, `cvv`, `device_code`, `hmac`, `iban`, `jwt`, `mfa`, `otp`,
    /// `pan`, `pass`, `passcode`, `passphrase`, `passwd`, `password`, `pin`, `private_key`, `pwd`, `secret`, `session`,
    /// `sid`, `signature`, `signing_key`, `ssn`, `subscription_key`, `token`, `totp`, `xsrf`.
    ///
    /// ``secretNames`` describes how they match, and lists the names that are secret only in some places.
    public static let standardSecretNames: Set<String> = [
        "access_key", "account_key", "api_key", "assertion", "auth", "authorization", "backup_code", "bearer", "card",
        "card_number", "code_verifier", "connection_string", "cookie", "credential", "csc", "csrf", "cvc", "cvc2",
        "cvv", "cvv2", "device_code", "encryption_key", "functions_key", "hmac", "iban", "jwt", "license_key",
        "master_key", "mfa", "mnemonic", "oauth_verifier", "otp", "pan", "pass", "passcode", "passphrase", "passwd",
        "password", "pin", "private_key", "psw", "pswd", "pwd", "recovery_code", "recovery_phrase", "saml_request",
        "saml_response", "secret", "seed_phrase", "sessid", "session", "session_id", "shared_key", "sid", "signature",
        "signing_key", "ssn", "subscription_key", "token", "totp", "user_code", "verification_code",
        "verification_uri_complete", "xsrf",
    ]

    static let urlFields: Set<HTTPField.Name> = [.location, .contentLocation, .referer]
    static let alwaysSecretFields: Set<HTTPField.Name> = [
        .authorization, .cookie, .setCookie, .proxyAuthorization,
    ]
}
