/// Whether an ``OAuthPlugin`` binds its tokens to a key, so that a stolen token is of no use.
///
/// Requires CryptoKit, or the trait `Crypto` on other platforms.
///
/// Source: RFC 9449, https://www.rfc-editor.org/rfc/rfc9449.html
public struct DPoPPolicy: Sendable, Hashable {
    let isEnabled: Bool

    /// Tokens are bearer tokens.
    public static let disabled = DPoPPolicy(isEnabled: false)

    #if Crypto || canImport(CryptoKit)
    /// Each session has a new P-256 key, and each request carries a proof signed with it.
    ///
    /// A server that issues a bearer token instead is refused.
    public static let required = DPoPPolicy(isEnabled: true)
    #endif
}
