/// The places in which a name is secret.
///
/// There is none for cookies: every cookie is secret, whatever its name.
package struct SecretPlaces: OptionSet, Sendable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A header field.
    package static let field = SecretPlaces(rawValue: 1)
    /// An item of a query or a fragment.
    package static let query = SecretPlaces(rawValue: 2)
    /// A field of a form, URL-encoded or multipart.
    package static let form = SecretPlaces(rawValue: 4)
    /// A JSON member or XML element with any value, an XML attribute, or a line such as `password: …`.
    package static let member = SecretPlaces(rawValue: 8)
    /// A JSON member whose value is a string, or an XML element that contains only text.
    package static let textMember = SecretPlaces(rawValue: 16)

    static let all: SecretPlaces = [.field, .query, .form, .member, .textMember]

    /// Names that are secret only in some places, and only as a whole name, ignoring `-`, `_` and case.
    ///
    /// Queries and forms are flat and mostly written for a server to check, so these names mean a credential there:
    /// `key` is an API key, `code` an authorization code (RFC 6749 §4.1.2) or a code from a message, `sig` a signed
    /// URL. In JSON and XML, `key` is the key of a pair or an object, and `code` an error or a country; both are shown.
    /// The others are a credential in JSON only as a string: `"refresh": 30`, `"ticket": {…}` and `"seed": 42` are
    /// shown. In queries, `appid` is the API key of OpenWeatherMap and Wolfram|Alpha; in JSON and XML, it is a public
    /// identifier. The field DPoP is a proof of possession (RFC 9449 §4.1), but DPoP-Nonce is not secret.
    static let ofWholeNames: [String: SecretPlaces] = [
        "dpop": .field,
        "2fa": .all,
        "x2fa": .all,
        "xrefresh": .field,
        "key": [.query, .form],
        "code": [.query, .form],
        "appid": [.query, .form],
        "access": [.query, .form, .textMember],
        "refresh": [.query, .form, .textMember],
        "seed": [.query, .form, .textMember],
        "sig": [.query, .form, .textMember],
        "ticket": [.query, .form, .textMember],
    ]

    /// The members of a pair in a list of pairs, in lower case: that of the name, which may be secret.
    static let namesOfPairs: Set<String> = ["key", "name"]
    /// The member with the value.
    static let valueOfPairs = "value"

    /// Words that make a header field secret if they are a part of its name: X-Functions-Key, X-Sig.
    static let wordsInFields: Set<String> = ["key", "sig", "ticket"]

    /// Names that are shown although a word in them is secret: types, counts and addresses, needed to decode a replay.
    static let shownNames: Set<String> = [
        // OAuth 2.0, OpenID Connect and their client files.
        // Source: https://www.rfc-editor.org/rfc/rfc6749.html#section-5.1
        "authtime", "authuri", "authurl", "checksessioniframe", "tokentype", "tokentypehint", "tokenuri", "tokenurl",
        // Counts of language models.
        "acceptedpredictiontokens", "audiotokens", "cachecreationinputtokens", "cachedtokens", "cachereadinputtokens",
        "candidatestokencount", "completiontokens", "completiontokensdetails", "inputtokens", "inputtokensdetails",
        "maxcompletiontokens", "maxinputtokens", "maxnewtokens", "maxoutputtokens", "maxtokens", "numtokens",
        "outputtokens", "outputtokensdetails", "prompttokencount", "prompttokens", "prompttokensdetails",
        "reasoningtokens", "rejectedpredictiontokens", "texttokens", "tokencount", "totaltokencount", "totaltokens",
        "xratelimitlimittokens", "xratelimitremainingtokens", "xratelimitresettokens",
        // Keys that are not secret.
        "cachekey", "idempotencykey", "publickey", "publickeypins", "secwebsocketkey", "surrogatekey", "xcachekey",
    ]

    /// Endings of such names: `token_endpoint`, `id_token_signing_alg_values_supported`, `refresh_token_expires_in`.
    static let shownEndings = ["endpoint", "supported", "expiresin", "expiresat"]
}
