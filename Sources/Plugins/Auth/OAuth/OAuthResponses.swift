import Foundation

/// A response with tokens.
///
/// Servers differ from RFC 6749 §5.1 in members that only help the client. Such a member never makes a token unusable.
struct OAuthTokenResponse: Decodable {
    private enum Member: CodingKey {
        case accessToken, tokenType, expiresIn, refreshToken
    }

    /// Not empty.
    let accessToken: String
    /// The type in lowercase letters; `bearer` if the server sent none.
    let type: String
    /// The lifetime in seconds; `nil` if the server sent none that can be read.
    let lifetime: Double?
    /// Not empty; `nil` if the server sent none.
    let refreshToken: String?

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        accessToken = try members.decode(String.self, forKey: .accessToken)
        guard !accessToken.isEmpty else {
            throw DecodingError.dataCorruptedError(forKey: .accessToken, in: members, debugDescription: "is empty")
        }
        type = members.text(.tokenType)?.lowercased() ?? "bearer"
        lifetime = members.seconds(.expiresIn)
        refreshToken = members.text(.refreshToken)
    }
}

/// An object with an error and without an access token, whatever its status.
///
/// Source: RFC 6749 §5.2, https://www.rfc-editor.org/rfc/rfc6749.html#section-5.2
struct OAuthErrorResponse: Decodable {
    private enum Member: CodingKey {
        case error, errorDescription, accessToken
    }

    let error: String
    let description: String?

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        error = try members.decode(String.self, forKey: .error)
        guard members.text(.accessToken) == nil else {
            throw DecodingError.dataCorruptedError(forKey: .accessToken, in: members, debugDescription: "is there")
        }
        description = members.text(.errorDescription)
    }
}

/// A response of the device authorization endpoint.
///
/// Source: RFC 8628 §3.2, https://www.rfc-editor.org/rfc/rfc8628.html#section-3.2
struct OAuthDeviceResponse: Decodable {
    private enum Member: CodingKey {
        case deviceCode, userCode, verificationUri, verificationUriComplete, expiresIn, interval
        // The names that Google uses.
        case verificationUrl, verificationUrlComplete
    }

    let deviceCode: String
    /// Printable characters only.
    let userCode: String
    let page: URL
    let completePage: URL?
    /// The lifetime in seconds, 0 to 86,400.
    let lifetime: Double
    /// The time between two polls in seconds, 1 to 3,600.
    let interval: Double

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        deviceCode = try members.decode(String.self, forKey: .deviceCode)
        userCode = try members.decode(String.self, forKey: .userCode)
        guard let page = members.page(.verificationUri) ?? members.page(.verificationUrl),
            let lifetime = members.seconds(.expiresIn), !userCode.isEmpty,
            !userCode.unicodeScalars.contains(where: { $0.properties.generalCategory.isInvisible })
        else {
            throw DecodingError.dataCorruptedError(forKey: .userCode, in: members, debugDescription: "is not usable")
        }
        self.page = page
        completePage = members.page(.verificationUriComplete) ?? members.page(.verificationUrlComplete)
        self.lifetime = min(max(lifetime, 0), 86_400)
        // Zero would ask the server without a pause.
        interval = members.seconds(.interval).map { $0 < 1 ? 5 : min($0, 3_600) } ?? 5
    }
}

extension Unicode.GeneralCategory {
    /// Whether the character could hide or reorder others.
    fileprivate var isInvisible: Bool {
        switch self {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }
}

extension KeyedDecodingContainer {
    /// Returns a text that is not empty.
    fileprivate func text(_ key: Key) -> String? {
        guard let text = try? decodeIfPresent(String.self, forKey: key), !text.isEmpty else { return nil }
        return text
    }

    /// Returns a finite number, which some servers send as text.
    fileprivate func seconds(_ key: Key) -> Double? {
        let number = (try? decodeIfPresent(Double.self, forKey: key)) ?? text(key).flatMap { Double($0) }
        return number.flatMap { $0.isFinite ? $0 : nil }
    }

    /// Returns the address of a page for a browser.
    fileprivate func page(_ key: Key) -> URL? {
        guard let url = text(key).flatMap({ URL(string: $0) }), url.host() != nil,
            ["https", "http"].contains(url.scheme?.lowercased())
        else { return nil }
        return url
    }
}
