import Foundation
public import PipelineCore

/// A user name and a password, for `BasicAuthPlugin` and `CredentialsPlugin`.
///
/// Neither its description nor `dump` shows them.
public struct PasswordCredential: Sendable, Hashable {
    /// The user name as the server knows it, case-sensitive.
    public var username: String
    /// The password of the user.
    public var password: String

    /// Creates a credential from a user name and a password.
    public init(username: String, password: String) {
        self.username = username
        self.password = password
    }

    /// Returns the value of Authorization for Basic, in UTF-8 and Normalization Form C.
    ///
    /// - Throws: `PipelineError` with code `invalidRequest.credential` for a user name with a colon, which would end
    ///   it, and for control characters, which are forbidden (RFC 7617 §2).
    public func basicAuthorization() throws -> String {
        guard !username.utf8.contains(UInt8(ascii: ":")) else {
            throw PipelineError(.invalidRequest(.credential), "the user name for Basic has a colon")
        }
        try requireNoControls()
        return "Basic "
            + Data("\(username):\(password)".precomposedStringWithCanonicalMapping.utf8).base64EncodedString()
    }

    /// Checks that neither text has a control character.
    ///
    /// - Throws: `PipelineError` with code `invalidRequest.credential`.
    public func requireNoControls() throws {
        for (part, text) in [("user name", username), ("password", password)]
        where text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
            throw PipelineError(.invalidRequest(.credential), "the \(part) has a control character")
        }
    }
}

extension PasswordCredential: SafelyDescribed {
    /// A fixed text that shows neither the user name nor the password.
    public var description: String { "a password credential" }
}
