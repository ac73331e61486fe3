/// Why the credential of a ``TokenRefreshPlugin`` changed.
public struct TokenCredentialChange: RawRepresentable, Sendable, Hashable {
    /// The name.
    public let rawValue: String
    /// Makes a reason; the plugin uses only those below.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The application set a credential.
    public static let logIn = Self(rawValue: "logIn")
    /// The closure `refresh` or `obtain` returned a new credential.
    public static let refresh = Self(rawValue: "refresh")
    /// The application removed the credential.
    public static let logOut = Self(rawValue: "logOut")
    /// The closure `refresh` or `obtain` returned `nil` for the present credential.
    public static let sessionEnd = Self(rawValue: "sessionEnd")
}
