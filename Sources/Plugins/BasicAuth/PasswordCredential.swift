import Foundation
public import Pipeline

/// A user name and a password, for `BasicAuthPlugin` and `CredentialsPlugin`.
///
/// Its description shows neither, nor does `dump`.
public struct PasswordCredential: Sendable, Hashable {
    /// The user's name, as the server knows it: case counts.
    public var username: String
    /// The password.
    public var password: String

    /// Makes a credential.
    public init(username: String, password: String) {
        self.username = username
        self.password = password
    }

    /// The value of Authorization for Basic: UTF-8 in Normalization Form C.
    ///
    /// - Throws: `PipelineError` with code `invalidRequest.credential`: a colon would end the user name, and control characters
    ///   are forbidden (RFC 7617 §2).
    func basicAuthorization() throws -> String {
        guard !username.utf8.contains(UInt8(ascii: ":")) else {
            throw PipelineError(.invalidRequest(.credential), "the user name for Basic has a colon")
        }
        try requireNoControls()
        return "Basic "
            + Data("\(username):\(password)".precomposedStringWithCanonicalMapping.utf8).base64EncodedString()
    }

    /// - Throws: `PipelineError` with code `invalidRequest.credential`.
    func requireNoControls() throws {
        for (part, text) in [("user name", username), ("password", password)]
        where text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            throw PipelineError(.invalidRequest(.credential), "the \(part) has a control character")
        }
    }
}

extension PasswordCredential: SafelyDescribed {
    /// That it is one.
    public var description: String { "a password credential" }
}
