public import Foundation

/// The way in which an ``OAuthPlugin`` obtains its first token.
public struct OAuthGrant: Sendable {
    enum Kind: Sendable {
        case clientCredentials
        case loopback(port: Int, path: String, timeout: Duration, @Sendable (URL) async throws -> Void)
        case redirect(URL, @Sendable (URL) async throws -> URL)
        case device(@Sendable (OAuthDeviceCode) async throws -> Void)
    }

    let kind: Kind
    let scopes: [String]

    var isClientCredentials: Bool { if case .clientCredentials = kind { true } else { false } }

    /// The client acts for itself; calls obtain a token without a sign-in.
    ///
    /// Source: RFC 6749 §4.4, https://www.rfc-editor.org/rfc/rfc6749.html#section-4.4
    public static func clientCredentials(scopes: [String] = []) -> OAuthGrant {
        OAuthGrant(kind: .clientCredentials, scopes: scopes)
    }

    /// The user signs in with a browser, which returns to a loopback address; for command-line tools.
    ///
    /// While a sign-in is in progress, the plugin listens on 127.0.0.1. It accepts one request with the state of the
    /// sign-in, and responds to others with 404. It closes the address afterwards.
    ///
    /// - Parameters:
    ///   - loopbackPort: the port; 0 lets the system choose one, which most servers accept.
    ///   - path: the path of the redirect URI, which begins with a slash.
    ///   - timeout: how long to wait for the browser, on the plugin's clock.
    ///   - scopes: the scopes to ask for.
    ///   - openBrowser: opens the URL. An error ends the sign-in.
    /// - Returns: the grant.
    ///
    /// Source: RFC 8252 §7.3, https://www.rfc-editor.org/rfc/rfc8252.html#section-7.3
    public static func authorizationCode(
        loopbackPort: Int = 0,
        path: String = "/callback",
        timeout: Duration = .seconds(300),
        scopes: [String] = [],
        openBrowser: @escaping @Sendable (URL) async throws -> Void
    ) -> OAuthGrant {
        precondition((0...65_535).contains(loopbackPort), "loopbackPort is \(loopbackPort), not 0 to 65535")
        precondition(path.hasPrefix("/"), "path is \(path), which does not begin with a slash")
        precondition(timeout > .zero, "timeout is \(timeout), not more than zero")
        return OAuthGrant(
            kind: .loopback(port: loopbackPort, path: path, timeout: timeout, openBrowser),
            scopes: scopes
        )
    }

    /// The user signs in with a browser whose result the app receives, for example from `ASWebAuthenticationSession`.
    ///
    /// - Parameters:
    ///   - redirect: the redirect URI of the app, such as `myapp://callback`.
    ///   - scopes: the scopes to ask for.
    ///   - authenticate: opens the URL and returns the URL that the browser was redirected to.
    /// - Returns: the grant.
    ///
    /// Source: RFC 7636, https://www.rfc-editor.org/rfc/rfc7636.html
    public static func authorizationCode(
        redirect: URL,
        scopes: [String] = [],
        authenticate: @escaping @Sendable (URL) async throws -> URL
    ) -> OAuthGrant {
        OAuthGrant(kind: .redirect(redirect, authenticate), scopes: scopes)
    }

    /// The user signs in on another device, for devices without a browser or a keyboard.
    ///
    /// - Parameters:
    ///   - scopes: the scopes to ask for.
    ///   - show: shows the code; the plugin asks the server for the token when it has returned.
    /// - Returns: the grant.
    ///
    /// Source: RFC 8628, https://www.rfc-editor.org/rfc/rfc8628.html
    public static func device(
        scopes: [String] = [],
        show: @escaping @Sendable (OAuthDeviceCode) async throws -> Void
    ) -> OAuthGrant {
        OAuthGrant(kind: .device(show), scopes: scopes)
    }
}
