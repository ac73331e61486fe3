import Foundation
import HTTPTypes
public import PipelineCore

private enum Authorized: RequestOptions.Key {
    static let defaultValue = false

    static func pluginOption(for value: Bool) -> RequestOptions.PluginOption? { value ? .authorized : nil }
}

extension APIRequest {
    /// Returns a copy that sends a user name and a password with the Basic scheme.
    ///
    /// **Effects**: sets Authorization to `Basic` and the base64 encoding of `username:password` in UTF-8,
    /// Normalization Form C; the case of letters is kept. It replaces a header field of the request and a token that
    /// was set before. A plugin that sets Authorization takes precedence, as AccessTokenPlugin does for a request that
    /// asks for a token.
    ///
    /// **Errors**: `invalidRequest.credential` if the name contains a colon, or if the name or the password contains a
    /// control character. The request also fails with this code if it would go over http to another machine, even if a
    /// plugin sends it there, unless ``ServerURL/cleartext`` of the server allows it. Nothing is sent then.
    ///
    /// **Secrets**: no error and no description contains the name or the password. A redirect to another origin drops
    /// the field.
    ///
    /// Source: RFC 7617 §2, https://www.rfc-editor.org/rfc/rfc7617.html#section-2
    ///
    /// - Parameters:
    ///   - username: the name of the user, such as an email address.
    ///   - password: the password of the user.
    /// - Returns: the copy.
    public func basicAuth(username: String, password: String) -> Self {
        with { $0.credential = .basic(username, password) }
    }

    /// Returns a copy that sends a fixed Bearer token; for tokens that change, use AccessTokenPlugin.
    ///
    /// **Errors**: `invalidRequest.credential` if the token is not a single word. The request also fails with this code
    /// if it would go over http to another machine, even if a plugin sends it there, unless ``ServerURL/cleartext``
    /// of the server allows it. Nothing is sent then.
    ///
    /// **Secrets**: same as for `basicAuth(username:password:)`.
    ///
    /// Source: RFC 6750 §2.1, https://www.rfc-editor.org/rfc/rfc6750.html#section-2.1
    ///
    /// - Parameter token: the token to send.
    /// - Returns: the copy.
    public func bearer(_ token: String) -> Self {
        with { $0.credential = .bearer(token) }
    }

    /// Returns a copy that is sent with a token from the provider's token plugin, such as AccessTokenPlugin.
    ///
    /// If the provider has no such plugin, its `ProviderConfiguration.UnhandledOptionPolicy` applies.
    ///
    /// - Parameter type: the form of the token; `nil` sends none.
    /// - Returns: the copy.
    public func authorized(_ type: AuthorizationType? = .bearer) -> Self {
        with { parts in
            parts.authorizationType = type
            parts.options[Authorized.self] = type != nil
        }
    }

    /// The form in which a token plugin sends its token, `nil` for no token.
    public var authorizationType: AuthorizationType? { parts.authorizationType }
}

/// A credential that is part of a request.
enum APICredential: Sendable {
    case basic(String, String)
    case bearer(String)

    /// Sets Authorization.
    ///
    /// Unless cleartext is allowed, no plugin can send it in clear text.
    ///
    /// - Throws: `PipelineError` with code `invalidRequest`, without the value in its text.
    func authorize(_ request: inout PipelineRequest, cleartext: CleartextPolicy) throws {
        let value = try value()
        if cleartext == .allowed {
            try request.setHeader(value, for: .authorization, isSecret: true)
        } else {
            try request.setConfidentialHeader(value, for: .authorization)
        }
    }

    private func value() throws -> String {
        switch self {
        case .basic(let name, let password):
            guard !name.utf8.contains(UInt8(ascii: ":")) else { throw Self.refused("the user name has a colon") }
            for text in [name, password]
            where text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
                throw Self.refused("the user name or the password has a control character")
            }
            let text = "\(name):\(password)".precomposedStringWithCanonicalMapping
            return "Basic " + Data(text.utf8).base64EncodedString()
        case .bearer(let token):
            guard !token.isEmpty, token.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != 0x22 && $0 != 0x2c })
            else { throw Self.refused("the token is not one word") }
            return "Bearer " + token
        }
    }

    private static func refused(_ reason: String) -> PipelineError {
        PipelineError(.invalidRequest(.credential), reason)
    }
}
