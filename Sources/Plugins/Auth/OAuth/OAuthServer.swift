public import Foundation

/// The authorization server of an ``OAuthPlugin``.
///
/// ```swift
/// OAuthServer.discovered(at: issuer)
/// OAuthServer(issuer: issuer, authorizationEndpoint: authorize, tokenEndpoint: token)
/// ```
///
/// Endpoints must use https, or http to a loopback address.
public struct OAuthServer: Sendable, Hashable {
    enum Source: Hashable {
        case issuer(URL)
        case metadata(OAuthMetadata)
    }

    let source: Source

    /// A server whose endpoints are read from its metadata before the first use.
    ///
    /// The metadata is requested from `/.well-known/oauth-authorization-server`, which is inserted before the path of
    /// the issuer, and then from `/.well-known/openid-configuration` after that path. It must name the same issuer,
    /// compared character by character.
    ///
    /// - Parameter issuer: the issuer identifier, without a query and a fragment.
    /// - Returns: the server.
    ///
    /// Source: RFC 8414, https://www.rfc-editor.org/rfc/rfc8414.html
    public static func discovered(at issuer: URL) -> OAuthServer { OAuthServer(source: .issuer(issuer)) }

    private init(source: Source) { self.source = source }

    /// Makes a server whose endpoints are known.
    ///
    /// - Parameters:
    ///   - issuer: the issuer identifier; an authorization response that names another one is refused.
    ///   - authorizationEndpoint: the endpoint that the browser opens, for the authorization code grant.
    ///   - tokenEndpoint: the endpoint that issues tokens.
    ///   - deviceAuthorizationEndpoint: the endpoint that issues device codes, for the device grant.
    ///   - revocationEndpoint: the endpoint that revokes tokens; without one, signing out is local.
    public init(
        issuer: URL? = nil,
        authorizationEndpoint: URL? = nil,
        tokenEndpoint: URL,
        deviceAuthorizationEndpoint: URL? = nil,
        revocationEndpoint: URL? = nil
    ) {
        source = .metadata(
            OAuthMetadata(
                issuer: issuer?.absoluteString,
                authorizationEndpoint: authorizationEndpoint,
                tokenEndpoint: tokenEndpoint,
                deviceAuthorizationEndpoint: deviceAuthorizationEndpoint,
                revocationEndpoint: revocationEndpoint
            )
        )
    }

    /// The name of the server in the keys of a credential store.
    var name: String {
        switch source {
        case .issuer(let url): url.absoluteString
        case .metadata(let metadata): metadata.issuer ?? metadata.tokenEndpoint.absoluteString
        }
    }
}

/// The endpoints of an authorization server, with the names of its metadata after conversion from snake case.
struct OAuthMetadata: Codable, Hashable {
    var issuer: String?
    var authorizationEndpoint: URL?
    let tokenEndpoint: URL
    var deviceAuthorizationEndpoint: URL?
    var revocationEndpoint: URL?
    var authorizationResponseIssParameterSupported: Bool?

    /// Returns the places of the metadata, in the order in which they are tried.
    static func places(of issuer: URL) -> [URL] {
        guard var parts = URLComponents(url: issuer, resolvingAgainstBaseURL: false) else { return [] }
        let path =
            parts.percentEncodedPath.hasSuffix("/")
            ? String(parts.percentEncodedPath.dropLast()) : parts.percentEncodedPath
        (parts.query, parts.fragment) = (nil, nil)
        return ["/.well-known/oauth-authorization-server" + path, path + "/.well-known/openid-configuration"].compactMap
        {
            parts.percentEncodedPath = $0
            return parts.url
        }
    }
}
